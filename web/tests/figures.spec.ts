import type { Page } from '@playwright/test'
import { hourly, withStats } from './stats'
import { apart, expect, signIn, test } from './world'

type Health = { windows: Record<string, object>; condition: object }

/** Changes what the API says of the health of the endpoint. */
async function withHealth(page: Page, path: string, change: (health: Health) => object) {
  await page.route((url) => url.pathname === path, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ json: change((await response.json()) as Health) })
  })
}

test('bars count a death once, and are as high as their parts', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  await withStats(page, `/v1/tenants/${tenant}/stats`, (search) => (search.get('by') === 'hour' ? hourly(25, (n) => (n === 20 ? { delivered: 60, failed: 40, dead: 20 } : n === 22 ? { delivered: 100 } : undefined)) : undefined))
  await signIn(page, backend, `/t/${tenant}`)
  const high = async (part: string, n = 0) => Number(await page.locator(`rect.mark.${part}`).nth(n).getAttribute('height')) + 1 // and the gap
  const whole = await high('delivered', 1)
  expect(await high('dead')).toBeCloseTo(whole * 0.2, 0)
  expect(await high('failed')).toBeCloseTo(whole * 0.2, 0) // 40 attempts failed, the last ones of 20 deaths among them
  expect((await high('delivered')) + (await high('failed')) + (await high('dead'))).toBeCloseTo(whole, 0)
})

test('the tracks of figures are equally wide, and no duration is 0 ms', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  const latency = { samples: 9, p50: '400µs', p95: '1.2ms', p99: '2.101087s' }
  const totals = { attempts: 1_234_571, success_rate: 0.5, latency, mean_delivery_time: '400µs', attempts_by_outcome: { delivered: 1_234_567, unavailable: 3, connect: 1 }, attempts_by_number: [1_234_567, 3, 1] }
  await page.route(
    (url) => url.pathname.endsWith(`/endpoints/${endpoint}/stats`) && !url.searchParams.has('by') && !url.searchParams.has('group'),
    async (route) => route.fulfill({ json: { ...((await (await route.fetch()).json()) as object), data: [totals] } }),
  )
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  const tracks = page.locator('.bars .track')
  await expect(tracks).toHaveCount(6)
  const boxes = await Promise.all([0, 1, 2, 3, 4, 5].map(async (n) => (await tracks.nth(n).boundingBox())!))
  expect(new Set(boxes.map((b) => Math.round(b.width))).size).toBe(1)
  expect(new Set(boxes.map((b) => Math.round(b.x))).size).toBe(1)
  await expect(page.locator('.stat', { hasText: 'p50 latency' })).toContainText('< 1 ms')
  await expect(page.locator('.stat', { hasText: 'p99 latency' })).toContainText('2.1 sec')
  await expect(page.getByText('0 ms', { exact: true })).toHaveCount(0)

  // The API cuts the duration of an attempt to whole milliseconds.
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  await page.route(
    (url) => url.pathname === `/v1/tenants/${tenant}/deliveries`,
    async (route) => {
      const { data, ...rest } = (await (await route.fetch()).json()) as { data: { last: object }[] }
      await route.fulfill({ json: { ...rest, data: data.map((d) => ({ ...d, last: { ...d.last, duration: '0s' } })) } })
    },
  )
  await page.goto(`${backend.address}/console/t/${tenant}/deliveries`)
  await expect(page.locator('.answer')).toHaveText('200 Delivered < 1 ms')
})

test('a list of tabs does not scroll up and down', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook') })
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  expect(await page.getByRole('tablist').evaluate((list) => getComputedStyle(list).overflowY)).toBe('hidden')
})

test('a condition that began days ago names day and hour, and dead letters name when they died', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 400 })
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'dead')
  await withHealth(page, `/v1/tenants/${tenant}/endpoints/${endpoint}/health`, (h) => ({ ...h, condition: { ...h.condition, since: '2026-03-03T14:02:00Z' } }))
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  await expect(page.locator('.verdict')).toHaveText(/Failing since 3 Mar, 14:02: 400 Refused/)
  await page.goto(`${backend.address}/console/t/${tenant}/dead-letters`)
  const died = page.getByText(/died (on|between)/).first()
  await expect(died).toHaveText(/died on \w+ \d+ \w+, \d\d:\d\d|died between/)
  await expect(died).not.toHaveText(/ago|yesterday|\.\./)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${backend.address}/console/t/${tenant}/endpoints/${endpoint}`)
  await expect(page.locator('.chart svg').first()).toBeVisible()
  await apart(page) // no label of a chart is cut
  await page.locator('.chart svg').first().click()
  expect(await page.locator('.chart svg').first().evaluate((chart) => getComputedStyle(chart).outlineStyle)).toBe('none')
})
