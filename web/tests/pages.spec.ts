import type { Page } from '@playwright/test'
import { accessible, apart, expect, fits, looks, openPortal, signIn, test, type Backend, type Receiver } from './world'

// Every page of the console and of the portal, with something on it.

type Made = { tenant: string; endpoint: string; event: string; replay: string }

async function furnish(backend: Backend, receiver: Receiver, tenant: string): Promise<Made> {
  receiver.answers.set('/refuses', { status: 401, body: '{"error":"invalid token"}' })
  receiver.answers.set('/down', { status: 503, body: 'down for maintenance' })
  await backend.call('PUT', `/v1/event-types/${tenant}.paid`, { description: 'An order was paid.', group: 'Orders', schema: { type: 'object' }, example: { order: 1042 } })
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/down'), uid: 'crm', circuit: { failures: 1, cooldown: '1h' }, retry: { schedule: ['1h', '1h'], jitter: 'none' } })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'retrying')
  await backend.endpoint(tenant, { url: receiver.url('/refuses'), uid: 'warehouse-of-the-north', event_types: ['order.*'] })
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'erp' })
  const event = await backend.event(tenant, 'order.shipped', { order: 1042 })
  const list = () => backend.call<{ data: { state: string }[] }>('GET', `/v1/tenants/${tenant}/events/${event}/deliveries`)
  await expect.poll(async () => (await list()).data.map((d) => d.state).sort()).toEqual(['dead', 'delivered', 'parked'])
  const { id } = await backend.call<{ id: string }>('POST', `/v1/tenants/${tenant}/replays`, { filter: { state: 'dead' }, rate_per_second: 100 })
  const job = () => backend.call<{ state: string; dead: number }>('GET', `/v1/tenants/${tenant}/replays/${id}`)
  await expect.poll(async () => (await job()).dead).toBe(1)
  return { tenant, endpoint, event, replay: id }
}

const ofTenant = ({ tenant, endpoint, event, replay }: Made) => [
  `/event-types`,
  `/event-types/${tenant}.paid`,
  `/t/${tenant}`,
  `/t/${tenant}?days=7`,
  `/t/${tenant}/endpoints`,
  `/t/${tenant}/new-endpoint`,
  ...['', '?days=7', '?tab=deliveries', '?tab=settings', '?tab=verify', '?tab=history'].map((search) => `/t/${tenant}/endpoints/${endpoint}${search}`),
  `/t/${tenant}/events`,
  `/t/${tenant}/events/${event}`,
  `/t/${tenant}/deliveries`,
  `/t/${tenant}/dead-letters`,
  `/t/${tenant}/replays`,
  `/t/${tenant}/replays/${replay}`,
]
const ofOperators = ({ tenant }: Made) => ['', '/tenants', '/tenants?sort=failures', '/failures', '/rejects', '/keys', '/new-event-type', `/t/${tenant}/changes`, `/t/${tenant}/nowhere`, '/nowhere']

/** Checks that no table is wider than its card. */
async function boxed(page: Page) {
  const wide = await page.evaluate(() =>
    [...document.querySelectorAll('.card table')].flatMap((table) => {
      const over = table.getBoundingClientRect().right - table.closest('.card, .scroll')!.getBoundingClientRect().right
      return over > 0.5 && !table.closest('.hidden, .scroll') ? [`a table is ${Math.ceil(over)} pixels wider than its card`] : []
    }),
  )
  expect(wide, page.url()).toEqual([])
}

/** Checks the page in each look. */
async function look(page: Page, address: string) {
  await page.goto(address)
  await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible()
  await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    // A chart takes its new width a frame later. What scrolls below the Save of the settings is covered.
    await expect(async () => {
      await fits(page)
      await boxed(page)
      if (!address.endsWith('tab=settings')) await apart(page)
    }).toPass({ timeout: 20_000 })
    await accessible(page)
  }
}

test('every page of the console fits, and is accessible, in both schemes', async ({ page, backend, receiver, tenant }) => {
  test.setTimeout(900_000)
  const made = await furnish(backend, receiver, tenant)
  await signIn(page, backend)
  for (const path of [...ofOperators(made), ...ofTenant(made)]) await look(page, `${backend.address}/console${path}`)
  await backend.call('DELETE', `/v1/event-types/${tenant}.paid`)
})

for (const [locale, menu] of [['en-GB', 'Main'], ['de-DE', 'Hauptmenü']] as const) {
  test.describe(locale, () => {
    test.use({ locale })
    test('every page of the portal fits, and is accessible, in both schemes', async ({ page, backend, receiver, tenant }) => {
      test.setTimeout(900_000)
      const made = await furnish(backend, receiver, tenant)
      await openPortal(page, backend, tenant, menu)
      for (const path of ofTenant(made)) await look(page, `${backend.address}/portal${path}`)
      await backend.call('DELETE', `/v1/event-types/${tenant}.paid`)
    })
  })
}
