import type { Locator, Page } from '@playwright/test'
import { hourLong, hourly, row, withStats } from './stats'
import { accessible, apart, expect, lookAt, signIn, test } from './world'

const deliveries = (page: Page) => page.getByRole('slider', { name: 'Deliveries over time' })
const latency = (page: Page) => page.getByRole('slider', { name: 'Latency of attempts by the hour' })
const current = () => Math.floor(Date.now() / hourLong) * hourLong
/** The figure of a legend, with the name of its series before it. */
const figure = (of: Locator, name: string) => of.locator('.legend li', { hasText: name })
const card = (page: Page, title: string) => page.locator('section.card', { has: page.getByRole('heading', { name: title, exact: true }) })
const wave = (n: number) => ({ delivered: 20 + ((n * 7) % 13), failed: n % 4, dead: n % 6 === 0 ? 1 : 0, p50: 100 + 10 * (n % 7) })

test('bars count what happened, and each part leads to its deliveries', async ({ page, backend, receiver, tenant }) => {
  // Events and attempts of one clock hour.
  await expect.poll(() => Date.now() % hourLong < hourLong - 45_000, { timeout: 60_000 }).toBe(true)
  receiver.answers.set('/refuses', { status: 400 })
  receiver.answers.set('/fails', { status: 503 })
  await backend.endpoint(tenant, { url: receiver.url('/accepts'), event_types: ['good'] })
  await backend.endpoint(tenant, { url: receiver.url('/refuses'), event_types: ['bad'] })
  const flaky = await backend.endpoint(tenant, { url: receiver.url('/fails'), event_types: ['flaky'], retry: { schedule: ['1h'], jitter: 'none' } })
  for (const [type, state] of [['good', 'delivered'], ['good', 'delivered'], ['bad', 'dead'], ['flaky', 'retrying']] as const) {
    await backend.settled(tenant, await backend.event(tenant, type, {}), state)
  }
  await signIn(page, backend, `/t/${tenant}`)
  const chart = card(page, 'Deliveries')
  await expect(deliveries(page)).toHaveAttribute('aria-valuetext', 'Last 24 hours: Delivered 2, Failed attempts 2, Dead 1')
  await accessible(page)
  const hour = current()
  for (const [part, filter, types] of [['delivered', { state: 'delivered' }, ['good', 'good']], ['failed', { failed_attempt: 'true' }, ['flaky', 'bad']], ['dead', { state: 'dead' }, ['bad']]] as const) {
    await chart.locator(`rect.${part}`).click()
    await expect(page).toHaveURL(new RegExp(`/t/${tenant}/deliveries\\?`))
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ ...filter, since: new Date(hour).toISOString(), until: new Date(hour + hourLong).toISOString() })
    await expect(page.getByRole('link', { name: /^(good|bad|flaky)$/ })).toHaveText(types)
    await page.goBack()
  }
  await page.goto(`${backend.address}/console/t/${tenant}/endpoints/${flaky}`)
  await expect(deliveries(page)).toHaveAttribute('aria-valuetext', /Delivered 0, Failed attempts 1, Dead 0/)
  await chart.locator('rect.failed').click()
  await expect(page).toHaveURL(new RegExp(`endpoint=${flaky}`))
  await expect(page.getByRole('link', { name: 'flaky', exact: true })).toBeVisible()
})

test('empty hours are drawn empty, and the keys read every hour', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  await withStats(page, `/v1/tenants/${tenant}/stats`, () => hourly(25, (n) => (n === 22 || n === 24 ? { delivered: 10 * n, failed: 1, p50: 80 } : undefined)))
  await signIn(page, backend, `/t/${tenant}`)
  const chart = card(page, 'Deliveries')
  await expect(chart.locator('rect.mark')).toHaveCount(4)
  const [first, second] = await Promise.all([0, 1].map(async (n) => (await chart.locator('rect.delivered').nth(n).boundingBox())!))
  const column = (await deliveries(page).boundingBox())!.width / 25
  expect(second!.x - first!.x).toBeGreaterThan(1.8 * column) // an hour is between them
  await expect(chart.locator('tbody tr')).toHaveCount(2)
  await expect(chart.locator('tbody tr').first()).toContainText('220')
  await page.keyboard.press('Tab')
  while (!(await deliveries(page).evaluate((e) => e === document.activeElement))) await page.keyboard.press('Tab')
  await expect(figure(chart, 'Delivered')).toContainText('240')
  await expect(deliveries(page)).toHaveAttribute('aria-valuetext', /so far: Delivered 240, Failed attempts 1, Dead 0/)
  await page.keyboard.press('ArrowLeft')
  await expect(deliveries(page)).toHaveAttribute('aria-valuetext', /UTC: Delivered 0, Failed attempts 0, Dead 0/)
  await page.keyboard.press('ArrowLeft')
  await expect(figure(chart, 'Delivered')).toContainText('220')
  await expect(figure(chart, 'Delivered').getByRole('link')).toHaveAttribute('href', new RegExp(encodeURIComponent(new Date(current() - 2 * hourLong).toISOString())))
  await accessible(page)
  await page.keyboard.press('Escape')
  await expect(figure(chart, 'Delivered')).toContainText('460')
})

test('the pointer reads an hour, and a press keeps it', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  await withStats(page, `/v1/tenants/${tenant}/stats`, () => hourly(25, (n) => (n > 20 ? { delivered: n } : undefined)))
  await signIn(page, backend, `/t/${tenant}`)
  const chart = card(page, 'Deliveries')
  const bar = (await chart.locator('rect.delivered').nth(1).boundingBox())!
  await page.mouse.move(bar.x + bar.width / 2, bar.y - 5)
  await expect(figure(chart, 'Delivered')).toContainText('22')
  await page.mouse.move(0, 0)
  await expect(figure(chart, 'Delivered')).toContainText('90')
  await page.mouse.click(bar.x + bar.width / 2, bar.y - 5) // above the bar
  await page.mouse.move(0, 0)
  await expect(figure(chart, 'Delivered')).toContainText('22')
  await chart.getByRole('button', { name: 'Show all' }).click()
  await expect(figure(chart, 'Delivered')).toContainText('90')
})

test.describe('with a finger', () => {
  test.use({ hasTouch: true, viewport: { width: 390, height: 844 } })
  test('a tap chooses the hour, and the legend leads to the list', async ({ page, backend, receiver, tenant }) => {
    await backend.endpoint(tenant, { url: receiver.url('/hook') })
    await withStats(page, `/v1/tenants/${tenant}/stats`, () => hourly(25, (n) => (n === 12 || n === 20 ? { delivered: n, dead: 1 } : undefined)))
    await signIn(page, backend, `/t/${tenant}`)
    const chart = card(page, 'Deliveries')
    await chart.locator('rect.delivered').first().tap()
    await expect(figure(chart, 'Delivered')).toContainText('12')
    await expect(page).toHaveURL(new RegExp(`/t/${tenant}$`))
    await figure(chart, 'Dead').getByRole('link').tap()
    await expect(page).toHaveURL(/state=dead/)
    expect(new URL(page.url()).searchParams.get('since')).toBe(new Date(current() - 12 * hourLong).toISOString())
  })
})

test('an hour alone is a point with its values', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  await withStats(page, `/v1/tenants/${tenant}/stats`, () => hourly(25, (n) => (n === 24 ? { delivered: 4, p50: 1 } : n === 3 ? { dead: 1 } : undefined)))
  await signIn(page, backend, `/t/${tenant}`)
  await expect(latency(page).locator('circle')).toHaveCount(3)
  for (const value of ['p50 1 ms', 'p95 3 ms', 'p99 5 ms']) await expect(latency(page).getByText(value, { exact: true })).toBeVisible()
  await apart(page)
})

test('the values of an hour alone stay inside of the chart', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  const alone = hourly(25, (n) => (n === 24 ? { delivered: 4, p50: 1 } : undefined))
  const data = alone.data.map((r) => ({ ...r, latency: { samples: 4, p50: '19ms', p95: '20ms', p99: '20ms' } }))
  await withStats(page, `/v1/tenants/${tenant}/stats`, () => ({ ...alone, data }))
  await signIn(page, backend, `/t/${tenant}`)
  await expect(latency(page).getByText('p99 20 ms', { exact: true })).toBeVisible()
  await apart(page)
})

test('lines break at empty hours', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  await withStats(page, `/v1/tenants/${tenant}/stats`, () => hourly(25, (n) => (n === 5 || n === 11 ? undefined : n > 11 && n < 15 ? { dead: 1 } : wave(n))))
  await signIn(page, backend, `/t/${tenant}`)
  const line = (await latency(page).locator('.p95 path').getAttribute('d'))!
  expect(line.match(/M/g)).toHaveLength(3)
  await expect(latency(page)).toHaveAttribute('aria-valuetext', /so far: p50 latency 130 ms, p95 latency 390 ms/)
})

test('7 days are 168 hours; a tenant with too many endpoints keeps 24 hours', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  let refuse = false
  const asked: (string | null)[] = []
  await page.route((url) => url.pathname === `/v1/tenants/${tenant}/stats`, async (route) => {
    const since = new URL(route.request().url()).searchParams.get('since')
    asked.push(since)
    if (since && refuse) await route.fulfill({ status: 400, json: { code: 'invalid', detail: 'too long' } })
    else await route.fulfill({ json: since ? hourly(168, wave) : hourly(25, wave) })
  })
  await signIn(page, backend, `/t/${tenant}`)
  const chart = card(page, 'Deliveries')
  await expect(chart.locator('rect.delivered')).toHaveCount(25)
  await page.getByRole('button', { name: '7 days' }).click()
  await expect(page).toHaveURL(/days=7/)
  await expect(chart.locator('rect.delivered')).toHaveCount(168)
  await expect(chart.getByText('Last 7 days')).toBeVisible()
  const since = Date.parse(asked.find((s) => s !== null)!)
  expect(current() - Math.floor(since / hourLong) * hourLong).toBe(167 * hourLong) // 168 with the current hour
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(chart.locator('rect.delivered')).toHaveCount(56) // three hours in a bar
  await apart(page)
  refuse = true
  await page.reload()
  await expect(page.getByText('This tenant has too many endpoints for 7 days. You see the last 24 hours.')).toBeVisible()
  await expect(chart.locator('rect.delivered')).toHaveCount(25)
  await page.getByRole('button', { name: '24 hours' }).click()
  await expect(page.getByText('too many endpoints')).toHaveCount(0)
})

test('the API refuses no 7 days of a tenant with one endpoint', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  await signIn(page, backend, `/t/${tenant}?days=7`)
  await expect(deliveries(page)).toHaveAttribute('aria-valuetext', 'Last 7 days: Delivered 1, Failed attempts 0, Dead 0')
})

test('an hour of all tenants leads to its tenants, and on to their deliveries', async ({ page, backend, tenant }) => {
  const of = (n: number) => [{ tenant: 'acme', delivered: n }, { tenant, delivered: 3, failed: n === 10 ? 8 : 0 }, { other: true, delivered: 2, failed: n === 10 ? 9 : 0 }]
  await withStats(page, '/v1/stats', (s) => {
    if (s.get('by') !== 'hour') return { ...hourly(25, () => undefined), data: [row({ tenant: 'acme', delivered: 300 }), row({ tenant, delivered: 75, failed: 8 })] }
    return s.get('group') ? hourly(25, of) : hourly(25, (n) => ({ delivered: n + 5, failed: n === 10 ? 17 : 0 }))
  })
  await signIn(page, backend)
  await card(page, 'Deliveries').locator('rect.failed').click()
  const hour = current() - 14 * hourLong
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ part: 'failed', hour: new Date(hour).toISOString() })
  const table = page.locator('section.card', { has: page.getByRole('heading', { name: /^Tenants, .* UTC$/ }) })
  await expect(table).toBeInViewport()
  await expect(table.locator('tbody tr')).toHaveText([new RegExp(tenant), /acme/, /All others/]) // the most failed attempts first, others last
  await accessible(page)
  await table.getByRole('row', { name: new RegExp(tenant) }).getByRole('link', { name: '8', exact: true }).click()
  await expect(page).toHaveURL(new RegExp(`/t/${tenant}/deliveries`))
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ failed_attempt: 'true', since: new Date(hour).toISOString(), until: new Date(hour + hourLong).toISOString() })
  await page.goBack()
  await table.getByRole('link', { name: 'Last 24 hours' }).click()
  await expect(page.getByRole('heading', { name: 'Tenants, last 24 hours' })).toBeVisible()
})

test('tenants are sorted by failures and by volume, with a spark for those with hours', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  const rows = [row({ tenant: 'a-loud', delivered: 900 }), row({ tenant: 'b-poor', delivered: 10, failed: 90, dead: 2 }), row({ tenant, delivered: 5, failed: 5 }), row({ other: true, delivered: 5000, failed: 5000 })]
  await withStats(page, '/v1/stats', (s) => (s.get('by') !== 'hour' ? { ...hourly(25, () => undefined), data: rows } : hourly(25, (n) => (s.get('group') ? [{ tenant, delivered: n, dead: 1 }, { other: true, delivered: 9 }] : { delivered: n }))))
  const names = page.locator('tbody tr td:first-child', { hasText: new RegExp(`^(a-loud|b-poor|${tenant}|All others)$`) })
  await signIn(page, backend)
  await expect(names).toHaveText(['b-poor', tenant, 'a-loud', 'All others'])
  await page.getByRole('button', { name: 'Volume' }).click()
  await expect(names).toHaveText(['a-loud', 'b-poor', tenant, 'All others'])
  await page.goto(`${backend.address}/console/tenants?prefix=${tenant}`)
  await expect(page.getByRole('button', { name: 'Id', exact: true })).toHaveAttribute('aria-pressed', 'true')
  await expect(page.getByRole('row', { name: new RegExp(tenant) }).getByRole('img', { name: 'Last 24 hours: Delivered 300, Failed attempts 0, Dead 25' })).toBeVisible()
  await accessible(page)
  await page.getByLabel('Begins with').fill('')
  await page.getByRole('button', { name: 'Failures' }).click()
  await expect(names).toHaveText(['b-poor', tenant, 'a-loud', 'All others'])
  await expect(page.getByText('Tenants with attempts in the last 24 hours.')).toBeVisible()
  await expect(page.locator('.spark')).toHaveCount(1)
  await accessible(page)
  await page.getByLabel('Begins with').fill('a-')
  await expect(names).toHaveText(['a-loud'])
  await page.reload()
  await expect(names).toHaveText(['a-loud'])
})

test('a page whose statistics fail says so, and shows the rest', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  let fail = true
  await page.route((url) => url.pathname === `/v1/tenants/${tenant}/stats`, (route) => (fail ? route.fulfill({ status: 403, json: { code: 'forbidden', detail: 'the key may not read this' } }) : route.continue()))
  await signIn(page, backend, `/t/${tenant}`)
  const chart = card(page, 'Deliveries')
  await expect(chart.getByText('the key may not read this')).toBeVisible()
  await expect(page.getByRole('link', { name: 'crm' })).toBeVisible()
  fail = false
  await chart.getByRole('button', { name: 'Try again' }).click()
  await expect(chart.getByText('Last 24 hours: no attempts')).toBeVisible()
  await accessible(page)
})

test('what waits is one bar by reason', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 503 })
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), circuit: { failures: 1, cooldown: '1h' }, retry: { schedule: ['1h'], jitter: 'none' } })
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  await expect(page.getByText('Nothing is waiting.')).toBeVisible()
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'retrying')
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'parked')
  const waiting = card(page, 'Waiting')
  for (const path of [`/t/${tenant}/endpoints/${endpoint}`, `/t/${tenant}`]) {
    await page.goto(`${backend.address}/console${path}`)
    await expect(figure(waiting, 'Retrying')).toContainText('1')
    await expect(figure(waiting, 'Endpoint failing')).toContainText('1')
    await expect(waiting.locator('.bar span')).toHaveCount(2)
    await accessible(page)
    await figure(waiting, 'Endpoint failing').getByRole('link').click()
    await expect(page).toHaveURL(/state=parked/)
    await expect(page.getByRole('link', { name: 'order.paid' })).toHaveCount(1)
  }
  await page.goto(`${backend.address}/console`)
  await expect(figure(waiting, 'Endpoint failing')).toBeVisible()
})

test('the waiting of a tenant says that it is a lower bound, and when it was counted', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  const waiting = { complete: false, as_of: new Date(Date.now() - 600_000).toISOString(), queued_estimate: 3, retrying: 4210, parked: 52_000, parked_by_reason: { paused: 51_000, rate: 1000 } }
  await page.route((url) => url.pathname === `/v1/tenants/${tenant}/health`, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), waiting } })
  })
  await signIn(page, backend, `/t/${tenant}`)
  await expect(card(page, 'Waiting')).toContainText('At least: the next review counts the endpoints with more than 100')
  await expect(card(page, 'Waiting')).toContainText('as counted 10 min ago')
  await expect(figure(card(page, 'Waiting'), 'Endpoint paused')).toContainText('51,000')
  await lookAt(page, 'waiting')
})

test('charts fit every width without a collision, in light and dark', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  const big = (n: number) => ({ ...wave(n), delivered: 1_234_567 * (n + 1) })
  await withStats(page, '/v1/stats', (s) => (s.get('group') ? undefined : hourly(25, big)))
  for (const path of [`/v1/tenants/${tenant}/stats`, `/v1/tenants/${tenant}/endpoints/${endpoint}/stats`]) await withStats(page, path, (s) => (s.get('since') ? hourly(168, big) : hourly(25, big)))
  await signIn(page, backend)
  for (const [name, path] of [['pipeline', ''], ['tenant', `/t/${tenant}`], ['endpoint', `/t/${tenant}/endpoints/${endpoint}?days=7`]] as const) {
    await page.goto(`${backend.address}/console${path}`)
    await expect(latency(page).locator('path').first()).toBeVisible()
    await lookAt(page, `charts-${name}`, async () => {
      await apart(page)
      await accessible(page)
    })
  }
})
