import type { Page, Request } from '@playwright/test'
import { expect, signIn, test } from './world'

/** A page with a virtual clock: time passes in steps of one second, and answers arrive in between. */
class Clock {
  second = 0
  private readonly open = new Set<Request>()

  constructor(private readonly page: Page) {
    page.on('request', (r) => this.open.add(r))
    page.on('requestfinished', (r) => this.open.delete(r))
    page.on('requestfailed', (r) => this.open.delete(r))
  }

  async pass(seconds: number) {
    for (const end = this.second + seconds; this.second < end; this.second++) {
      await this.page.clock.runFor(1_000)
      await expect.poll(() => this.open.size, { intervals: [5] }).toBe(0)
    }
  }
}

test('polling backs off while nothing changes, and is quick after a change', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  await page.clock.install()
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  await expect(page.getByRole('heading', { name: 'Circuit: closed', exact: true })).toBeVisible()

  const clock = new Clock(page)
  const reads: Record<string, number[]> = {}
  page.on('request', (r) => {
    const path = new URL(r.url()).pathname
    if (/\/(health|endpoints\/[^/]+)$/.test(path)) (reads[path] ??= []).push(clock.second)
  })
  await clock.pass(300)
  const path = `/v1/tenants/${tenant}/endpoints/${endpoint}`
  for (const of of [path, `${path}/health`]) {
    const at = reads[of] ?? []
    const gaps = at.slice(1).map((n, i) => n - at[i]!)
    expect(at.length, `${of}: ${at}`).toBeGreaterThan(5)
    expect(at.length, `${of}: ${at}`).toBeLessThan(25) // 60 without backing off
    expect(gaps.at(-1), `${of}: ${at}`).toBeGreaterThanOrEqual(4 * gaps[0]!)
    expect(Math.max(...gaps), `${of}: ${at}`).toBeLessThanOrEqual(61)
  }
  await backend.call('PATCH', path, { description: 'changed' })
  const before = reads[path]!.length
  await clock.pass(75)
  const after = reads[path]!.slice(before)
  expect(after[1]! - after[0]!, String(after)).toBeLessThanOrEqual(6)
})

test('a page whose first reading fails asks again soon, and backs off while the API fails', async ({ page, backend }) => {
  await page.clock.install()
  await signIn(page, backend, '/tenants')
  const clock = new Clock(page)
  let failing = true
  const asked: number[] = []
  await page.route('**/v1/health', async (route) => {
    asked.push(clock.second)
    if (failing) await route.fulfill({ status: 503, json: { code: 'unavailable', detail: 'the store did not answer; try again' } })
    else await route.continue()
  })
  await page.getByRole('link', { name: 'Overview' }).click()
  await clock.pass(30)
  await expect(page.getByText('the store did not answer')).toBeVisible()
  const soon = asked.length
  expect(soon, String(asked)).toBeGreaterThanOrEqual(9) // three tries per reading: more readings than the first
  await clock.pass(300)
  expect(asked.length - soon, String(asked)).toBeLessThan(40)
  failing = false
  await clock.pass(70)
  await expect(page.getByRole('heading', { name: 'Queues' })).toBeVisible()
})

test('a replay whose reading fails is asked for less and less often', async ({ page, backend, tenant }) => {
  await page.clock.install()
  await signIn(page, backend, `/t/${tenant}/replays`)
  const clock = new Clock(page)
  const asked: number[] = []
  const id = 'rpl_01jb2z8v9kfq6t3m5n7p9r1s2w'
  page.on('request', (r) => {
    if (r.url().endsWith(`/replays/${id}`) && r.resourceType() === 'fetch') asked.push(clock.second)
  })
  await page.goto(`${backend.address}/console/t/${tenant}/replays/${id}`)
  await clock.pass(300)
  expect(asked.length, String(asked)).toBeGreaterThan(2)
  expect(asked.length, String(asked)).toBeLessThan(25) // 150 without backing off
})
