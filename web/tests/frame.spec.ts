import { accessible, apart, expect, fits, signIn, signInByForm, test } from './world'

test('the frame names the environment and the key, and buttons follow its scopes', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  const event = await backend.event(tenant, 'order.paid', {})
  await backend.settled(tenant, event, 'delivered')
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  await expect(page.locator('.brand').getByText('local', { exact: true })).toBeVisible()
  await expect(page.locator('.who')).toHaveText('admin key of the stack')
  await expect(page.getByRole('button', { name: 'Rotate secret' })).toBeVisible()
  await page.getByRole('button', { name: 'Sign out' }).click()

  // A key of one tenant opens that tenant, without a question.
  const made = await backend.call<{ key: string }>('POST', '/v1/keys', { name: 'a reader', tenant, scopes: ['read'] })
  await page.getByLabel('API key').fill(made.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText(tenant).first()).toBeVisible()
  await expect(page.locator('.who')).toHaveText('a reader')
  await page.goto(`${backend.address}/console/t/${tenant}/endpoints/${endpoint}`)
  await expect(page.getByRole('tab', { name: 'Health' })).toBeVisible()
  for (const name of ['Rotate secret', 'Pause', 'Delete', 'Send test', 'Replay…']) await expect(page.getByRole('button', { name })).toHaveCount(0)
  await expect(page.getByRole('link', { name: 'Changes' })).toHaveCount(0)
  await page.goto(`${backend.address}/console/t/${tenant}/events/${event}`)
  await expect(page.getByText('Attempt 1: 200 Delivered')).toBeVisible()
  for (const name of ['Erase payload', 'Replay', 'Send to…']) await expect(page.getByRole('button', { name })).toHaveCount(0)
  await accessible(page)
})

test('an environment of production has a color', async ({ page, backend }) => {
  await page.route('**/v1/caller', async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ json: { ...((await answer.json()) as object), environment: 'surehook-prod' } })
  })
  await signInByForm(page, backend)
  await expect(page.locator('.brand').getByText('prod', { exact: true })).toHaveClass(/bad/)
  const red = await page.locator('.side').evaluate((side) => getComputedStyle(side).borderTopColor)
  expect(red).toBe(await page.locator('.brand .badge').evaluate((badge) => getComputedStyle(badge).color))
  await accessible(page)
  await page.setViewportSize({ width: 390, height: 844 })
  await fits(page)
  await apart(page)
})

test('the settings of an endpoint are in sections, with Save in sight', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}?tab=settings`)
  for (const name of ['Delivery', 'Limits', 'Request and signature', 'Authentication and network']) await expect(page.getByRole('heading', { name, level: 2 })).toBeVisible()
  const save = page.getByRole('button', { name: 'Save changes' })
  for (const [width, height] of [[1440, 900], [390, 844]] as const) {
    await page.setViewportSize({ width, height })
    await page.evaluate(() => window.scrollTo(0, 0))
    await expect(save).toBeInViewport()
    await page.getByLabel('Timeout').scrollIntoViewIfNeeded()
    await expect(save).toBeInViewport()
    await accessible(page)
    await fits(page)
  }
})
