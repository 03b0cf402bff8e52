import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { startDev } from './start'
import { Backend, expect, signIn, test as base } from './world'

// Takes the screenshots for the documents, of a day of history: PICTURES=../docs/pictures npx playwright test pictures
const folder = process.env.PICTURES

// A Surehook with a past.
const test = base.extend<{ backend: Backend }>({
  backend: async ({}, use) => {
    const { dev, api, key } = await startDev({}, '--history', '30h')
    await use(Object.assign(new Backend(), { address: api, key }))
    dev.kill('SIGTERM')
    await once(dev, 'exit')
  },
})

test('a history has good and bad hours, and pictures for the documents', async ({ page, backend }) => {
  test.setTimeout(240_000)
  const api = backend.address
  const tenant = 'acme'
  await page.setViewportSize({ width: 1280, height: 800 })
  await signIn(page, backend)
  // In some hours the many failures of erp make it a third.
  await expect(page.getByText(/^[23] endpoints of [12] tenants? fail; 1 is paused or disabled; \d+ deliveries wait, the oldest for [\d.]+ hrs?/)).toBeVisible()
  await page.goto(`${api}/console/t/${tenant}/endpoints/crm`)
  await expect(page.getByText('down for maintenance')).toBeVisible()
  await page.goto(`${api}/console/t/${tenant}/endpoints/warehouse?tab=history`)
  await expect(page.locator('.timeline h3')).toHaveText(['Endpoint changed', 'The circuit closed', 'The circuit opened', 'Endpoint created'])

  const dead = await backend.call<{ data: { event_id: string }[] }>('GET', `/v1/tenants/${tenant}/deliveries?state=dead&limit=1`)
  const event = dead.data[0]!.event_id
  const link = await backend.portal(tenant)
  const draw = async (name: string, scheme: string) => {
    await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
    await page.evaluate(() => document.fonts.ready)
    await page.screenshot({ path: `${folder}/${name}-${scheme}.png` })
    expect((await readFile(`${folder}/${name}-${scheme}.png`)).length).toBeGreaterThan(10_000)
  }
  for (const scheme of folder ? (['light', 'dark'] as const) : []) {
    await page.emulateMedia({ colorScheme: scheme })
    for (const [name, path] of [
      ['overview', ''],
      ['tenant', `/t/${tenant}`],
      ['event', `/t/${tenant}/events/${event}`],
      ['endpoint', `/t/${tenant}/endpoints/crm`],
      ['dead-letters', `/t/${tenant}/dead-letters`],
    ] as const) {
      await page.goto(`${api}/console${path}`)
      await draw(name, scheme)
    }
    await page.goto('about:blank')
    await page.goto(link.url)
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
    await draw('portal', scheme)
  }
})
