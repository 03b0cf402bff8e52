import { accessible, apart, expect, fits, lookAt, openPortal, openSearch, signIn, test } from './world'

test('a list of events says what became of them', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/down', { status: 400 })
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'erp' })
  await backend.endpoint(tenant, { url: receiver.url('/down'), uid: 'crm', event_types: ['order.*'] })
  const both = await backend.event(tenant, 'order.paid', {})
  await backend.settled(tenant, await backend.event(tenant, 'invoice.created', {}), 'delivered')
  await expect
    .poll(async () => (await backend.call<{ data: { state: string }[] }>('GET', `/v1/tenants/${tenant}/events/${both}/deliveries`)).data.map((d) => d.state).sort())
    .toEqual(['dead', 'delivered'])
  await signIn(page, backend, `/t/${tenant}/events`)
  const row = page.getByRole('row', { name: /order\.paid/ })
  await expect(row.getByText('1 Dead', { exact: true })).toBeVisible()
  await expect(row.getByText('1 Delivered', { exact: true })).toBeVisible()
  await expect(page.getByRole('row', { name: /invoice\.created/ }).getByText('Delivered', { exact: true })).toBeVisible()
  await expect(row.getByRole('link', { name: 'crm' })).toBeVisible()
  await accessible(page)

  // On a phone an event takes less than a quarter of the screen, and the filters are folded.
  await page.setViewportSize({ width: 390, height: 844 })
  await expect(page.getByLabel('Idempotency key')).toBeHidden()
  await page.getByRole('button', { name: 'Filters' }).click()
  await expect(page.getByLabel('Idempotency key')).toBeVisible()
  expect((await row.boundingBox())!.height).toBeLessThan(110)
  await accessible(page)
  await fits(page)
  await apart(page)
})

test('deliveries are filtered by names, quick ranges and failed attempts', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'erp' })
  await backend.endpoint(tenant, { url: receiver.url('/flaky'), description: 'without an alias', retry: { schedule: ['1s', '1h'], jitter: 'none' }, event_types: ['order.*'] })
  receiver.answers.set('/flaky', { status: 503 })
  const event = await backend.event(tenant, 'order.paid', {})
  await backend.settled(tenant, await backend.event(tenant, 'invoice.created', {}), 'delivered')
  const states = async () => (await backend.call<{ data: { state: string }[] }>('GET', `/v1/tenants/${tenant}/events/${event}/deliveries`)).data.map((d) => d.state).sort()
  await expect.poll(states).toEqual(['delivered', 'retrying'])
  receiver.answers.set('/flaky', { status: 200 })
  await expect.poll(states).toEqual(['delivered', 'delivered'])

  await signIn(page, backend, `/t/${tenant}/deliveries`)
  const rows = page.locator('tbody tr')
  await expect(rows).toHaveCount(3)

  // What arrived late had a failed attempt.
  await page.getByRole('combobox', { name: 'Attempts' }).click()
  await page.getByRole('option', { name: 'With a failed one' }).click()
  await expect(page).toHaveURL(/failed_attempt=true/)
  await expect(rows).toHaveCount(1)
  await expect(rows).toContainText('/flaky')
  await expect(rows).toContainText('Delivered')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(rows).toHaveCount(3)

  // A part of a name suggests the endpoint, and a part of a type the types.
  const endpoint = page.getByRole('combobox', { name: 'Endpoint' })
  await endpoint.focus()
  await expect(page.locator('datalist option[value="erp"]')).toHaveCount(1)
  await endpoint.fill('erp')
  await endpoint.press('Enter')
  await expect(page).toHaveURL(/endpoint=ep_/)
  await expect(endpoint).toHaveValue('erp')
  await expect(rows).toHaveCount(2)
  await accessible(page)
  await page.reload()
  await expect(page.getByRole('combobox', { name: 'Endpoint' })).toHaveValue('erp')
  await page.getByRole('combobox', { name: 'Event type' }).fill('order.paid')
  await page.getByRole('combobox', { name: 'Event type' }).press('Enter')
  await expect(rows).toHaveCount(1)

  // A refusal is at the filter, in the API's words.
  await page.getByRole('combobox', { name: 'Event type' }).fill('order paid!')
  await page.getByRole('combobox', { name: 'Event type' }).press('Enter')
  await expect(page.locator('.field', { hasText: 'Event type' }).getByText('must be an exact type of events')).toBeVisible()
  await accessible(page)
  await page.getByRole('button', { name: 'Clear filters' }).click()

  // A quick range is a bound in the URL.
  await page.getByRole('button', { name: '24 h', exact: true }).click()
  await expect(page).toHaveURL(/since=/)
  const since = Date.parse(new URL(page.url()).searchParams.get('since')!)
  expect(Date.now() - since - 86_400_000).toBeLessThan(120_000)
  await expect(rows).toHaveCount(3)
})

test('a search finds endpoints and tenants by parts of their names', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'billing-eu' })
  await backend.endpoint(tenant, { url: receiver.url('/warehouse') })
  await signIn(page, backend, `/t/${tenant}/endpoints`)
  await openSearch(page)
  await page.getByRole('combobox', { name: `Search in ${tenant}` }).fill('ling')
  await expect(page.getByRole('option', { name: /Endpoint billing-eu/ })).toBeVisible()
  await page.getByRole('combobox', { name: `Search in ${tenant}` }).fill('WAREH')
  await page.getByRole('option', { name: /warehouse/ }).click()
  await expect(page.getByRole('heading', { name: /warehouse/ })).toBeVisible()

  await page.goto(`${backend.address}/console/tenants`)
  await openSearch(page)
  await page.getByRole('combobox', { name: 'Search all tenants' }).fill(tenant.slice(0, -1))
  await expect(page.getByRole('option', { name: `Tenant ${tenant}` })).toBeVisible()
})

test('a customer reads what became of events in German', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'erp' })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  await openPortal(page, backend, tenant)
  await page.goto(`${backend.address}/portal/t/${tenant}/events?lang=de`)
  await expect(page.getByRole('row', { name: /order\.paid/ }).getByText('Zugestellt', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: '7 Tage' })).toBeVisible()
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await accessible(page)
  await fits(page)
  await apart(page)
})

test('a list of endpoints says who still signs by an old secret', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/erp'), uid: 'erp' })
  await backend.endpoint(tenant, { url: receiver.url('/crm'), uid: 'crm' })
  await backend.call('POST', `/v1/tenants/${tenant}/endpoints/crm/rotate-secret`, { overlap: '24h' })
  await signIn(page, backend, `/t/${tenant}/endpoints`)
  await expect(page.locator('tbody tr')).toHaveCount(2)
  await page.getByRole('combobox', { name: 'Signed by' }).click()
  await page.getByRole('option', { name: 'An old secret, too' }).click()
  await expect(page.locator('tbody tr')).toHaveCount(1)
  await expect(page.locator('tbody')).toContainText('crm')
  await accessible(page)
  await page.goto(`${backend.address}/console/t/${tenant}/endpoints?signed_by=old`)
  await expect(page.getByText('No endpoint matches')).toBeVisible()
})

test('names of 500 endpoints stand in place of their ids', async ({ page, backend, receiver, tenant }) => {
  test.setTimeout(120_000)
  await backend.call('PUT', `/v1/tenants/${tenant}/limits`, { changes_per_hour: 100_000 })
  for (let i = 0; i < 120; i += 20)
    await Promise.all(Array.from({ length: 20 }, (_, n) => backend.endpoint(tenant, { url: receiver.url(`/h${i + n}`), uid: `shop-${String(i + n).padStart(3, '0')}`, event_types: [`t${i + n}`] })))
  const all = await backend.call<{ data: { uid: string }[]; next_cursor: string }>('GET', `/v1/tenants/${tenant}/endpoints?limit=100`)
  const rest = await backend.call<{ data: { uid: string }[] }>('GET', `/v1/tenants/${tenant}/endpoints?limit=100&cursor=${encodeURIComponent(all.next_cursor)}`)
  const last = rest.data.at(-1)!.uid // not among the first hundred
  await backend.settled(tenant, await backend.event(tenant, `t${Number(last.slice(5))}`, {}), 'delivered')
  await signIn(page, backend, `/t/${tenant}/deliveries`)
  await expect(page.getByRole('link', { name: last })).toBeVisible()
})

test('a waiting delivery says why it waits, until when, and when it is lost', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 503, body: 'down' })
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm', circuit: { failures: 1, cooldown: '1h' }, retry: { schedule: ['1h', '1h'], jitter: 'none' } })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'retrying')
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'parked')
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}?tab=deliveries`)
  const parked = page.getByRole('row', { name: /Parked/ })
  await expect(parked.getByText('Waits: the circuit of the endpoint is open')).toBeVisible()
  await expect(parked.getByText(/Next probe: in (59 min|1 hr)/)).toBeVisible()
  await expect(parked.getByText(/lost on/)).toBeVisible()
  await expect(page.getByRole('row', { name: /Retrying/ }).getByText(/in (59 min|1 hr)/)).toBeVisible()
  await accessible(page)
})

test('one range holds for all figures of an endpoint, also by event type', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'erp' })
  for (const type of ['order.paid', 'order.paid', 'invoice.created']) await backend.settled(tenant, await backend.event(tenant, type, {}), 'delivered')
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  const types = page.locator('section', { has: page.getByRole('heading', { name: 'By event type' }) })
  await expect(types.getByRole('row', { name: /order\.paid 2 100/ })).toBeVisible()
  await expect(types.getByRole('row', { name: /invoice\.created 1 100/ })).toBeVisible()
  await expect(page.getByText('Working: 100% of 3 attempts in this and the last hour succeeded.')).toBeVisible()
  await expect(page.getByText('of 3 attempts. Last 24 hours')).toBeVisible()
  await expect(types.getByText('Last 24 hours')).toBeVisible()
  await page.getByRole('button', { name: '7 days' }).click()
  await expect(types.getByText('Last 7 days')).toBeVisible()
  await expect(page.locator('.stat', { hasText: 'Mean time to delivery' })).toContainText('Last 7 days')
  await expect(page.getByText('of 3 attempts. Last 7 days')).toBeVisible()
  await expect(page.getByRole('slider', { name: 'Latency of attempts by the hour' })).toHaveAttribute('aria-valuemax', '167')
  await accessible(page)
  await page.goto(`${backend.address}/console/t/${tenant}`)
  await types.getByRole('link', { name: 'invoice.created' }).click()
  await expect(page.locator('tbody tr')).toHaveCount(1)
})

test('an open circuit is probed when asked', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 503, body: 'down' })
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm', circuit: { failures: 1, cooldown: '1h' }, retry: { schedule: ['1h', '1h'], jitter: 'none' } })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'retrying')
  const waits = await backend.event(tenant, 'order.paid', {})
  await backend.settled(tenant, waits, 'parked')
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  await expect(page.getByText('down', { exact: true })).toBeVisible()
  receiver.answers.set('/hook', { status: 200 })
  await page.getByRole('button', { name: 'Probe now' }).click()
  await expect(page.getByText('A waiting delivery is sent as the probe')).toBeVisible()
  await backend.settled(tenant, waits, 'delivered')
  await expect(page.getByRole('heading', { level: 1 })).toContainText('Circuit: closed')
  await expect(page.getByRole('button', { name: 'Probe now' })).toHaveCount(0)
})

test('what failed between two minutes is shown for all tenants, and the menu of endpoints is read when it is used', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/broken', { status: 401 })
  const id = await backend.endpoint(tenant, { url: receiver.url('/broken'), uid: 'broken' })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'dead')
  // Other tests have tenants, too. Of these two pages of tenants the second has this one.
  await page.route((url) => url.pathname === '/v1/tenants', (route) => {
    const second = new URL(route.request().url()).searchParams.get('cursor') === 'second'
    return route.fulfill({ json: second ? { data: [{ id: tenant }], next_cursor: null } : { data: [], next_cursor: 'second' } })
  })
  const asked: string[] = []
  page.on('request', (r) => {
    const { pathname, search } = new URL(r.url())
    if (pathname.endsWith('/endpoints')) asked.push(decodeURIComponent(search))
  })
  await signIn(page, backend)
  await page.getByRole('link', { name: 'Failures', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Failed attempts of all tenants' })).toBeVisible()
  await expect(page.getByText('Deliveries parked without an attempt are not among them')).toBeVisible()
  const card = page.locator('.card').filter({ has: page.getByRole('heading', { name: tenant, exact: true }) })
  await page.getByRole('link', { name: 'Next page' }).click()
  await expect(card.getByRole('row').filter({ hasText: 'broken' })).toContainText('401')
  await lookAt(page, 'failures')
  await page.setViewportSize({ width: 1440, height: 900 })
  await accessible(page)
  expect(asked.length).toBeGreaterThan(0)
  asked.length = 0
  await card.getByRole('link', { name: 'Open the list' }).click()
  await expect(page.getByRole('row').filter({ hasText: 'broken' })).toBeVisible()
  expect(asked, 'the name is known').toEqual([])
  await page.getByRole('combobox', { name: 'Endpoint' }).focus()
  await expect.poll(() => asked).toEqual(['?limit=100'])
  await page.reload()
  await expect(page.getByRole('row').filter({ hasText: 'broken' })).toBeVisible()
  expect(asked).toEqual(['?limit=100', `?ids=${id}&limit=100`])
})

// A tenant of 700 endpoints cannot be made here, but its answer can.
test('dead letters of 700 endpoints: the total says what is left out, and fifty causes are open', async ({ page, backend, tenant }) => {
  const id = (n: number) => `ep_${String(n).padStart(16, '0')}`
  const groups = Array.from({ length: 700 }, (_, n) => ({
    endpoint_id: id(n), class: 'refused', status: 401, reason: 'rejected', count: 20, first_at: '2026-11-29T08:00:00.000Z', last_at: '2026-11-29T09:00:00.000Z', mean_attempts: 1, pattern: 'credentials', suggestion: '',
  }))
  await page.route((url) => url.pathname === `/v1/tenants/${tenant}/dead-letters/analysis`, (route) => route.fulfill({ json: { period: '336h', total: 14_000, complete: false, groups } }))
  const asked: string[] = []
  await page.route((url) => url.pathname === `/v1/tenants/${tenant}/endpoints`, (route) => {
    const ids = (new URL(route.request().url()).searchParams.get('ids') ?? '').split(',')
    asked.push(String(ids.length))
    return route.fulfill({ json: { data: ids.map((id) => ({ id, uid: `shop-${Number(id.slice(3))}`, url: 'https://example.com/' })), next_cursor: null } })
  })
  await signIn(page, backend, `/t/${tenant}/dead-letters`)
  await expect(page.getByText('the numbers are lower bounds, and endpoints may be missing')).toBeVisible()
  await expect(page.getByText(/at least 14,000/i)).toBeVisible()
  await expect(page.getByRole('link', { name: 'shop-49', exact: true })).toBeVisible()
  await expect(page.getByRole('link', { name: /^shop-/ })).toHaveCount(50)
  expect(asked).toEqual(['50'])
  await lookAt(page, 'dead')
  await page.getByRole('button', { name: 'Show all 700 causes' }).click()
  await expect(page.getByRole('link', { name: /^shop-/ })).toHaveCount(700)
})

test('of more endpoints than the menu holds, the API finds the others by what is typed', async ({ page, backend, tenant }) => {
  const endpoint = (n: number) => ({ id: `ep_${String(n).padStart(16, '0')}`, uid: `shop-${n}`, url: 'https://example.com/' })
  await page.route((url) => url.pathname === `/v1/tenants/${tenant}/endpoints`, (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0)
    return route.fulfill({ json: { data: Array.from({ length: 100 }, (_, i) => endpoint(from + i)), next_cursor: String(from + 100) } })
  })
  const searched: string[] = []
  await page.route((url) => url.pathname === `/v1/tenants/${tenant}/health`, (route) => {
    searched.push(new URL(route.request().url()).searchParams.get('search') ?? '')
    const { id, ...rest } = endpoint(713)
    return route.fulfill({ json: { endpoints: 1, data: [{ endpoint_id: id, ...rest }] } })
  })
  await signIn(page, backend, `/t/${tenant}/deliveries`)
  const field = page.getByRole('combobox', { name: 'Endpoint' })
  await field.focus()
  await expect(page.locator('datalist option[value="shop-499"]')).toHaveCount(1)
  await expect(page.locator('datalist option[value="shop-500"]')).toHaveCount(0)
  expect(searched).toEqual([])
  await field.pressSequentially('shop-71')
  await expect(page.locator('datalist option[value="shop-713"]')).toHaveCount(1)
  await expect.poll(() => searched.at(-1)).toBe('shop-71')
  await field.fill('shop-713')
  await field.press('Enter')
  await expect(page).toHaveURL(/endpoint=ep_0+713/)

  // So do the dialogs.
  const posted: string[] = []
  page.on('request', (r) => {
    if (r.method() === 'POST') posted.push(r.url() + (r.postData() ?? ''))
  })
  const choose = async () => {
    const choice = page.getByRole('dialog').or(page.getByRole('alertdialog')).getByRole('combobox', { name: 'Endpoint' })
    await choice.pressSequentially('shop-713')
    await expect(page.locator('datalist option[value="shop-713"]')).not.toHaveCount(0)
    await choice.press('Enter')
  }
  await page.goto(`${backend.address}/console/t/${tenant}/replays`)
  await page.getByRole('button', { name: 'New replay…' }).click()
  await choose()
  await expect.poll(() => posted.at(-1)).toMatch(/replays.*"endpoint":"ep_0+713"/)
  await page.goto(`${backend.address}/console/t/${tenant}/events/${await backend.event(tenant, 'order.paid', {})}`)
  await page.getByRole('button', { name: 'Send to…' }).click()
  await choose()
  await page.getByRole('button', { name: 'Send to', exact: true }).click()
  await expect.poll(() => posted.at(-1)).toMatch(/replay\?endpoint=ep_0+713/)
})
