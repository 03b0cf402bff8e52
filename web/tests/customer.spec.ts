import { accessible, expect, openPortal, signIn, test } from './world'

// What a customer sees and does in the portal.

const german = (url: string) => url.replace('/portal#', '/portal?lang=de#')

test('the portal speaks German by its link, keeps the language, and forgets it with the next link', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  await page.goto(german((await backend.portal(tenant)).url))
  await expect(page.getByRole('heading', { name: 'Überblick', level: 1 })).toBeVisible()
  expect(await page.getAttribute('html', 'lang')).toBe('de')
  for (const name of ['Endpunkte', 'Ereignisse', 'Zustellungen', 'Wiederholungen']) {
    await page.getByRole('link', { name, exact: true }).click()
    await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()
    await accessible(page)
  }
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Wiederholungen', level: 1 })).toBeVisible()
  await page.goto('about:blank')
  await page.goto((await backend.portal(tenant)).url)
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible()
  expect(await page.getAttribute('html', 'lang')).toBe('en-GB')
})

test.describe('in a German browser', () => {
  test.use({ locale: 'de-AT', timezoneId: 'Europe/Vienna' })

  test('the portal is German with dates that name their zone, and the console is English', async ({ page, backend, receiver, tenant }) => {
    await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
    const event = await backend.event(tenant, 'order.paid', {})
    await backend.settled(tenant, event, 'delivered')
    await openPortal(page, backend, tenant, 'Hauptmenü')
    await page.goto(`${backend.address}/portal/t/${tenant}/events/${event}`)
    await expect(page.getByRole('heading', { name: 'Versuch 1: 200 Zugestellt' })).toBeVisible()
    await expect(page.locator('.timeline')).toContainText(/(MEZ|MESZ)/)
    await expect(page.locator('time').first()).toHaveAttribute('title', /(MEZ|MESZ)/)
    await signIn(page, backend, `/t/${tenant}?lang=de`)
    await expect(page.getByRole('heading', { name: 'Überblick', level: 1 })).toBeVisible()
  })

  test('without the file of its language the page is English', async ({ page, backend, tenant }) => {
    await page.route(/\/de-[^/]*\.js$/, (route) => route.abort())
    await openPortal(page, backend, tenant, 'Main')
  })
})
