import type { Request } from '@playwright/test'
import { expect, signIn, test } from './world'

// The clock of the page is virtual: five minutes pass in steps of one second.
test('polling backs off while nothing changes, and is quick after a change', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  await page.clock.install()
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  await expect(page.getByRole('heading', { name: 'Circuit: closed', exact: true })).toBeVisible()

  let second = 0
  const open = new Set<Request>()
  page.on('requestfinished', (r) => open.delete(r))
  page.on('requestfailed', (r) => open.delete(r))
  const reads: Record<string, number[]> = {}
  page.on('request', (r) => {
    open.add(r)
    const path = new URL(r.url()).pathname
    if (/\/(health|endpoints\/[^/]+)$/.test(path)) (reads[path] ??= []).push(second)
  })
  const pass = async (seconds: number) => {
    for (const end = second + seconds; second < end; second++) {
      await page.clock.runFor(1_000)
      await expect.poll(() => open.size, { intervals: [5] }).toBe(0) // answers arrive in real time
    }
  }
  await pass(300)
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
  await pass(75)
  const after = reads[path]!.slice(before)
  expect(after[1]! - after[0]!, String(after)).toBeLessThanOrEqual(6)
})
