import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { startDev } from './start'
import { accessible, apart, Backend, expect, fits, looks, signIn, test as base } from './world'

// The questions of cmd/surehook/testdata/oncall.md that a page answers, over a week of history, to be looked at:
// PICTURES=folder npx playwright test oncall.spec; with LOOKS=all in each look.
const folder = process.env.PICTURES && `${process.env.PICTURES}/oncall`

const test = base.extend<{ backend: Backend }>({
  backend: [
    async ({}, use) => {
      const { dev, api, key } = await startDev({}, '--history', '168h')
      await use(Object.assign(new Backend(), { address: api, key }))
      dev.kill('SIGTERM')
      await once(dev, 'exit')
    },
    { scope: 'test', timeout: 400_000 },
  ],
})

test.skip(!folder, 'it draws pictures')

type Found = { data: { id: string; event_id: string; idempotency_key?: string }[] }
type Answer = {
  name: string
  path: string
  /** What the page says. */
  says: (page: Page) => Promise<void>
}

async function answers(backend: Backend): Promise<Answer[]> {
  const first = async (path: string) => (await backend.call<Found>('GET', `/v1/tenants/${path}`)).data[0]!
  const dead = await first('acme/deliveries?state=dead&limit=1')
  const before = (ms: number) => new Date(Date.now() - ms).toISOString()
  const hour = 3_600_000
  const made = await first(`acme/events?event_type=order.paid&until=${before(10 * hour)}`)
  const main = (page: Page) => page.getByRole('main')
  const shows = (...texts: (string | RegExp)[]) => async (page: Page) => {
    for (const one of texts) {
      const found = main(page).getByText(one).filter({ visible: true }).first()
      await expect(found).toBeVisible()
      if ((await found.evaluate((e) => e.getBoundingClientRect().bottom)) > 900) await found.evaluate((e) => e.scrollIntoView({ block: 'center' }))
    }
  }
  return [
    { name: 'wrong', path: '', says: shows(/^[23] endpoints of [12] tenants? fail; 1 is paused or disabled; \d+ deliveries wait, the oldest for [\d.]+ hrs?/) },
    { name: 'since', path: '/t/acme/endpoints/crm', says: shows(/^Failing since .*: 503 Unavailable; 135 deliveries wait/, 'down for maintenance') },
    { name: 'waits', path: '/t/acme/endpoints/crm?tab=deliveries&state=parked', says: shows('Waits: the circuit of the endpoint is open', /^lost on /) },
    { name: 'sent', path: `/t/acme/events/${dead.event_id}?delivery=${dead.id}`, says: shows('401 Refused', /invalid token/) },
    { name: 'changed', path: '/t/acme/endpoints/warehouse?tab=history', says: shows('Endpoint changed', /72\s?h/) },
    { name: 'types', path: '/t/acme', says: shows('order.paid', 'By event type') },
    { name: 'noisiest', path: '/tenants?sort=volume', says: shows('acme', 'globex') },
    { name: 'disabled', path: '/t/initech/endpoints/reports', says: shows(/^Disabled since /, 'this hook was removed') },
    { name: 'paused', path: '/t/initech/endpoints/archive?tab=history', says: shows(/manual/) },
    { name: 'week', path: '/t/globex/endpoints/erp?days=7', says: shows('p99', 'Latency of attempts') },
    { name: 'secret', path: '/t/globex/endpoints?signed_by=both', says: shows('shop') },
    {
      name: 'proof',
      path: `/t/acme/events/${made.id}`,
      says: async (page) => {
        await main(page).getByRole('button', { name: 'Proof' }).first().click()
        await expect(page.getByRole('dialog').getByText('body_sha256')).toBeVisible()
      },
    },
    {
      name: 'again',
      path: '/t/acme/endpoints/billing?tab=deliveries&state=dead',
      says: async (page) => {
        await main(page).getByRole('button', { name: 'Replay…' }).last().click()
        await expect(page.getByRole('dialog').getByText(/billing/).first()).toBeVisible()
      },
    },
  ]
}

test('pages answer what a person on call asks', async ({ page, backend }) => {
  test.setTimeout(900_000)
  if (folder) await mkdir(folder, { recursive: true })
  await page.setViewportSize({ width: 1440, height: 900 })
  await signIn(page, backend)
  for (const { name, path, says } of await answers(backend)) {
    for (const { width, colorScheme } of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 900 })
      await page.goto('about:blank')
      await page.goto(`${backend.address}/console${path}`)
      await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
      await test.step(name, () => says(page))
      await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
      await fits(page)
      await apart(page)
      await accessible(page)
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` })
    }
  }
})
