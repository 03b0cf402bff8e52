import { expect, test } from './world'

for (const path of ['/docs', '/docs/']) {
  test(`${path} shows the contract`, async ({ page, backend }) => {
    await page.goto(backend.address + path)
    await expect(page.getByRole('heading', { name: /^Surehook/ })).toBeVisible()
    await expect(page.getByText('Post an event', { exact: true }).first()).toBeVisible()
  })
}

test('the search finds operations by their words', async ({ page, backend }) => {
  await page.goto(`${backend.address}/docs`)
  await page.getByLabel('Search operations').fill('rotate secret')
  await expect(page.locator('.opblock-tag-section .opblock')).toHaveCount(1)
  await expect(page.locator('#operations-endpoints-rotateSecret')).toBeVisible()
})

test('a deep link opens its operation, from either address', async ({ page, backend }) => {
  for (const path of ['/docs', '/docs/']) {
    await page.goto('about:blank')
    await page.goto(`${backend.address}${path}#/endpoints/createEndpoint`)
    const operation = page.locator('#operations-endpoints-createEndpoint')
    await expect(operation).toHaveClass(/is-open/)
    await expect(operation).toBeInViewport()
  }
})
