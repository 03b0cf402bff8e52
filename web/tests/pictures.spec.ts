import { readFile } from 'node:fs/promises'
import { expect, signIn, test } from './world'

// Takes the screenshots for the documents: PICTURES=../docs/pictures npx playwright test pictures
const folder = process.env.PICTURES

test('pictures for the documents', async ({ page, backend, receiver }) => {
  test.skip(!folder, 'PICTURES names no folder')
  test.setTimeout(240_000)
  const tenant = 'acme'
  receiver.answers.set('/crm', { status: 503, body: 'down for maintenance' })
  receiver.answers.set('/billing', { status: 401, body: '{"error":"invalid token"}' })
  const orders = await backend.endpoint(tenant, { url: receiver.url('/orders'), uid: 'orders', event_types: ['order.*'] })
  await backend.endpoint(tenant, { url: receiver.url('/crm'), uid: 'crm', description: 'CRM of the sales team' })
  await backend.endpoint(tenant, { url: receiver.url('/billing'), uid: 'billing', event_types: ['invoice.*'] })
  for (let i = 0; i < 60; i++) {
    const event_type = ['order.paid', 'order.shipped', 'invoice.created'][i % 3]!
    await backend.event(tenant, event_type, { order: 1042 + i, total: `${19 + i}.90`, currency: 'EUR', items: [{ sku: 'A-17', count: 2 }] })
  }
  await expect
    .poll(async () => (await backend.call<{ last_hour: { delivered: number } }>('GET', '/v1/health')).last_hour.delivered, { timeout: 120_000 })
    .toBeGreaterThanOrEqual(40)
  const shown = await backend.call<{ data: { event_id: string }[] }>('GET', `/v1/tenants/${tenant}/deliveries?state=delivered&endpoint=${orders}&limit=1`)
  const event = shown.data[0]!.event_id
  const link = await backend.portal(tenant)
  await page.setViewportSize({ width: 1280, height: 800 })
  await signIn(page, backend)
  const draw = async (name: string, scheme: string) => {
    await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
    await page.evaluate(() => document.fonts.ready)
    await page.screenshot({ path: `${folder}/${name}-${scheme}.png` })
    expect((await readFile(`${folder}/${name}-${scheme}.png`)).length).toBeGreaterThan(10_000)
  }
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    for (const [name, path] of [
      ['overview', ''],
      ['tenant', `/t/${tenant}`],
      ['event', `/t/${tenant}/events/${event}`],
      ['endpoint', `/t/${tenant}/endpoints/crm`],
      ['dead-letters', `/t/${tenant}/dead-letters`],
    ] as const) {
      await page.goto(`${backend.address}/console${path}`)
      await draw(name, scheme)
    }
    await page.goto('about:blank')
    await page.goto(link.url)
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
    await draw('portal', scheme)
  }
})
