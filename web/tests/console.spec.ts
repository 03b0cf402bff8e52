import { accessible, canary, expect, fits, signIn, test } from './world'

test('a wrong key is refused at the field', async ({ page, backend }) => {
  await page.goto(`${backend.address}/console/tenants`)
  await accessible(page)
  await page.getByLabel('API key').fill('shk_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText('The key is wrong, was revoked, or has expired.')).toBeVisible()
})

test('a stranger finds why a delivery failed, and replays it', async ({ page, backend, receiver, tenant: name }) => {
  const tenant = `auth0|${name}:a@b+c` // as identity providers name them
  receiver.answers.set('/hook', { status: 401, body: 'invalid token' })
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'billing' })
  const event = await backend.event(tenant, 'invoice.created', { number: 12345678901234567890n.toString() })
  await backend.settled(tenant, event, 'dead')
  await signIn(page, backend)
  await page.getByRole('link', { name: 'Tenants', exact: true }).click()
  await page.getByRole('link', { name: tenant }).click()
  await page.getByRole('listitem').filter({ hasText: 'billing is failing' }).getByRole('link', { name: '1 dead letter' }).click()
  await expect(page.getByText('Credentials refused')).toBeVisible()
  await accessible(page)
  await page.getByRole('main').getByRole('link', { name: 'Deliveries' }).click()
  await page.getByRole('link', { name: 'invoice.created' }).click()
  await expect(page.getByText('Attempt 1: 401 Refused')).toBeVisible()
  await expect(page.getByLabel('Answer', { exact: true })).toHaveText('invalid token')
  receiver.answers.set('/hook', { status: 200, body: 'fine' })
  await page.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Replay', exact: true }).click()
  await expect(page.getByText('Replay 1', { exact: true })).toBeVisible()
  await expect(page.getByText('Delivered', { exact: true })).toBeVisible()
  await accessible(page)
})

test('dead letters are counted, replayed by a job, and the job is watched', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 400 })
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'erp' })
  for (const n of [1, 2, 3]) await backend.settled(tenant, await backend.event(tenant, 'order.paid', { n }), 'dead')
  receiver.answers.set('/hook', { status: 200 })
  await signIn(page, backend, `/t/${tenant}/dead-letters`)
  await page.getByRole('button', { name: 'Replay…' }).click()
  await expect(page.getByText('3 deliveries to 1 endpoint will be sent again')).toBeVisible()
  await accessible(page)
  await page.getByLabel('Deliveries per second').fill('0')
  await page.getByRole('button', { name: 'Replay all 3' }).click()
  await expect(page.getByText(/0\.1 to 500/)).toBeVisible()
  await page.getByLabel('Deliveries per second').fill('100')
  await page.getByRole('button', { name: 'Replay all 3' }).click()
  await expect(page.getByText('3 of 3 have a result')).toBeVisible()
  await expect(page.getByText('All delivered')).toBeVisible()
  await accessible(page)
  await page.getByRole('link', { name: 'Dead letters' }).click()
  await expect(page.getByRole('heading', { name: 'No dead letters' })).toBeVisible()
  expect(endpoint).toMatch(/^ep_/)
})

test('a replay job is cancelled', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 400 })
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'erp' })
  const events = await Promise.all([1, 2, 3, 4].map((n) => backend.event(tenant, 'order.paid', { n })))
  for (const event of events) await backend.settled(tenant, event, 'dead')
  const job = await backend.call<{ id: string }>('POST', `/v1/tenants/${tenant}/replays`, { filter: { state: 'dead' }, rate_per_second: 0.1 })
  await signIn(page, backend, `/t/${tenant}/replays`)
  await page.getByRole('link', { name: job.id }).click()
  await page.getByRole('button', { name: 'Cancel replay' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel replay' }).click()
  await expect(page.getByText('Cancelled', { exact: true }).first()).toBeVisible()
})

test('an endpoint is created, changed, paused, tested, rotated and deleted', async ({ page, backend, receiver, tenant }) => {
  await signIn(page, backend, `/t/${tenant}`)
  await page.getByRole('link', { name: 'New endpoint' }).click()
  await accessible(page)
  await page.getByLabel('URL').fill('ftp://example.com')
  await page.getByLabel('Event types').fill('order.*\nbad type')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await expect(page.locator('.wrong')).toHaveCount(2) // at the URL and at the types, in the API's words
  await page.getByLabel('URL').fill(receiver.url('/hook'))
  await page.getByLabel('Event types').fill('order.*')
  await page.getByLabel('Alias').fill('crm')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await expect(page.getByText(/^whsec_/)).toBeVisible()
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('heading', { name: /crm/ })).toBeVisible()
  await accessible(page)

  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByLabel('Timeout').fill('31s')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.locator('.wrong')).toHaveCount(1)
  await accessible(page)
  await page.getByLabel('Timeout').fill('20s')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.getByText('The settings are saved')).toBeVisible()

  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('Paused', { exact: true })).toBeVisible()
  await expect(page.getByText('By hand', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText('Active', { exact: true })).toBeVisible()

  await page.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('combobox', { name: 'The old secret expires after' }).click()
  await page.getByRole('option', { name: '3 days' }).click()
  await accessible(page)
  await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate secret' }).click()
  await expect(page.getByText(/^whsec_/)).toBeVisible()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('tab', { name: 'Verification' }).click()
  await expect(page.getByText(/before the last rotation still signs, too. It expires in [23] days/)).toBeVisible()
  await accessible(page)
  await page.getByRole('tab', { name: 'History' }).click()
  await expect(page.getByRole('heading', { name: 'Secret rotated' })).toBeVisible()
  await accessible(page)

  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'webhook.test' })).toBeVisible()
  await expect(page.getByText('Attempt 1: 200 Delivered')).toBeVisible()
  await page.getByRole('link', { name: 'crm' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByRole('heading', { name: 'No endpoints yet' })).toBeVisible()

  await page.goto(`${backend.address}/console/t/${tenant}-mistyped`)
  await expect(page.getByRole('heading', { name: 'Nothing is known of this tenant' })).toBeVisible()
  await accessible(page)
})

test('a circuit is seen open, with its parked deliveries, and closed', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 503 })
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm', circuit: { failures: 1, cooldown: '1h' }, retry: { schedule: ['1h', '1h', '1h', '1h'], jitter: 'none' } })
  const event = await backend.event(tenant, 'order.paid', {})
  await backend.settled(tenant, event, 'retrying')
  const parked = await backend.event(tenant, 'order.paid', {})
  await backend.settled(tenant, parked, 'parked')
  await signIn(page, backend, `/t/${tenant}/events/${parked}`)
  await expect(page.getByText('Waits: the circuit of the endpoint is open')).toBeVisible()
  await page.goto(`${backend.address}/console/t/${tenant}/events/${event}`)
  await expect(page.getByText('Planned attempt')).toHaveCount(1)
  await expect(page.locator('.timeline li').filter({ hasText: '3 more attempts' })).toContainText('in 3 hr') // the last of them
  await page.goto(`${backend.address}/console/t/${tenant}/endpoints/${endpoint}`)
  await page.getByRole('button', { name: 'Close circuit' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Close circuit' }).click()
  await expect(page.getByText('The circuit is closed')).toBeVisible()
})

test('filters live in the URL', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  await backend.settled(tenant, await backend.event(tenant, 'order.shipped', {}), 'delivered')
  await signIn(page, backend, `/t/${tenant}/deliveries`)
  await expect(page.getByRole('link', { name: /^order\./ })).toHaveCount(2)
  await accessible(page)
  await page.getByLabel('Event type').fill('order.paid')
  await page.getByLabel('Event type').press('Enter')
  await expect(page).toHaveURL(/event_type=order\.paid/)
  await expect(page.getByRole('link', { name: /^order\./ })).toHaveCount(1)
  await page.getByRole('combobox', { name: 'State' }).click()
  await page.getByRole('option', { name: 'Dead' }).click()
  await expect(page).toHaveURL(/state=dead/)
  await expect(page.getByRole('heading', { name: 'No deliveries here' })).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Event type')).toHaveValue('order.paid')
})

test('an event is sent byte for byte, and the payload is erased', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  await signIn(page, backend, `/t/${tenant}/events`)
  await accessible(page)
  await page.getByRole('button', { name: 'Send a test event' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Payload').fill('{"big": 12345678901234567890, "big": 1}')
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  await expect(page.locator('.wrong, .notice.bad')).toBeVisible() // a repeated name
  await dialog.getByLabel('Payload').fill('{"big":  12345678901234567890}')
  await dialog.getByRole('button', { name: 'Send', exact: true }).click()
  await expect(page.getByText('"big"')).toBeVisible()
  await page.getByRole('tab', { name: 'Exact bytes' }).click()
  await expect(page.getByText('{"big":  12345678901234567890}')).toBeVisible()
  await page.getByRole('button', { name: 'Erase payload' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Erase payload' }).click()
  await expect(page.getByText('The payload was erased.')).toBeVisible()
})

test('a key is created and revoked', async ({ page, backend, tenant }) => {
  await signIn(page, backend, '/keys')
  await page.getByRole('button', { name: 'New key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await expect(dialog.locator('.wrong').first()).toBeVisible()
  await dialog.getByLabel('Name').fill(tenant)
  await dialog.getByRole('textbox', { name: 'Tenant' }).fill(tenant)
  await accessible(page)
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await expect(page.getByText(/^shk_/)).toBeVisible()
  await page.getByRole('button', { name: 'Done' }).click()
  const row = page.getByRole('row', { name: new RegExp(tenant) })
  await accessible(page)
  await row.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(row).toHaveCount(0)
})

test('every page fits a phone', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 400, body: 'no '.repeat(100) })
  const endpoint = await backend.endpoint(tenant, { url: receiver.url(`/${'a-long-path-without-spaces/'.repeat(6)}?with=query`), description: 'x'.repeat(120) })
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'u'.repeat(100) })
  const event = await backend.event(tenant, `order.${'paid'.repeat(25)}`, { text: 'x'.repeat(500) })
  await expect.poll(async () => JSON.stringify(await backend.call('GET', `/v1/tenants/${tenant}/events/${event}/deliveries`))).not.toMatch(/queued|retrying/)
  await backend.call('PUT', `/v1/event-types/${tenant}`, { description: 'x'.repeat(200), schema: { title: 'x'.repeat(300) } })
  await page.setViewportSize({ width: 390, height: 844 })
  await signIn(page, backend)
  const of = `/t/${tenant}`
  for (const path of [
    '',
    '/tenants',
    '/keys',
    '/rejects',
    '/event-types',
    `/event-types/${tenant}`,
    '/new-event-type',
    of,
    `${of}/endpoints`,
    `${of}/new-endpoint`,
    `${of}/endpoints/${endpoint}`,
    `${of}/endpoints/${endpoint}?tab=settings`,
    `${of}/endpoints/${endpoint}?tab=history`,
    `${of}/events`,
    `${of}/events/${event}`,
    `${of}/deliveries`,
    `${of}/dead-letters`,
    `${of}/replays`,
    `${of}/changes`,
  ]) {
    await page.goto(`${backend.address}/console${path}`)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
    await fits(page)
  }
  await backend.call('DELETE', `/v1/event-types/${tenant}`)
})

test('the dead letters of one cause are replayed without those of another', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'erp' })
  for (const status of [401, 422]) {
    receiver.answers.set('/hook', { status })
    await backend.settled(tenant, await backend.event(tenant, 'order.paid', { status }), 'dead')
  }
  receiver.answers.set('/hook', { status: 200 })
  await signIn(page, backend, `/t/${tenant}/dead-letters`)
  await page.locator('section', { hasText: 'Credentials refused' }).getByRole('button', { name: 'Replay…' }).click()
  await expect(page.getByText('1 delivery to 1 endpoint will be sent again')).toBeVisible()
  await page.getByRole('button', { name: 'Replay 1', exact: true }).click()
  await expect(page.getByText('1 of 1 have a result')).toBeVisible()
  const dead = await backend.call<{ data: { last: { status: number } }[] }>('GET', `/v1/tenants/${tenant}/deliveries?state=dead&endpoint=${endpoint}`)
  expect(dead.data.map((d) => d.last.status)).toEqual([422])
})

test('the overview shows latency over time, and leads to the tenant with dead letters', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 401 })
  await backend.endpoint(tenant, { url: receiver.url('/hook') })
  for (const n of [1, 2, 3, 4, 5]) await backend.settled(tenant, await backend.event(tenant, 'order.paid', { n }), 'dead')
  await signIn(page, backend)
  await expect(page.getByRole('slider', { name: 'Latency of attempts by the hour' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Queues' })).toBeVisible()
  await expect(page.getByRole('row', { name: new RegExp(tenant) })).toContainText('0%')
  await page.getByRole('link', { name: tenant, exact: true }).click()
  await expect(page.getByRole('slider', { name: 'Latency of attempts by the hour' })).toBeVisible()
  await expect(page.getByRole('link', { name: /View.*is failing/ })).toBeVisible()
})

test('the overview names the tenants of open circuits', async ({ page, backend, receiver, tenant }) => {
  const tenants = [tenant, `${tenant}-other`]
  const opened: string[] = []
  for (const of of tenants) {
    const path = `/v1/tenants/${of}/endpoints/${await backend.endpoint(of, { url: receiver.url('/hook') })}/circuit`
    await backend.call('POST', `${path}/open`, {})
    opened.push(path)
  }
  await signIn(page, backend)
  const need = page.getByRole('listitem').filter({ hasText: 'Endpoints that fail' })
  for (const of of tenants) await expect(need.getByRole('link', { name: `${of} (1)` })).toBeVisible()
  await accessible(page)
  await need.getByRole('link', { name: `${tenant} (1)` }).click()
  await expect(page.getByRole('link', { name: /View.*is paused/ })).toBeVisible()
  for (const path of opened) await backend.call('POST', `${path}/reset`, {})
})

test('the limits of a tenant are changed, refused at the field, and undone', async ({ page, backend, tenant }) => {
  await signIn(page, backend, `/t/${tenant}`)
  await page.getByRole('button', { name: 'Limits' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Events per second').fill('many')
  await dialog.getByLabel('Keep events for').fill('1h')
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await expect(dialog.locator('.wrong')).toHaveCount(2)
  await accessible(page)
  await dialog.getByLabel('Events per second').fill('20')
  await dialog.getByLabel('Keep events for').fill('672h')
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.getByText('The limits are saved')).toBeVisible()
  expect(await backend.call('GET', `/v1/tenants/${tenant}/limits`)).toMatchObject({ events_per_second: 20 })
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(async () => Object.keys(await backend.call('GET', `/v1/tenants/${tenant}/limits`))).toEqual(['httpStatus'])
})

test('a circuit is opened by hand, and closed again', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  await page.getByRole('button', { name: 'Open circuit' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Open circuit' }).click()
  await expect(page.getByRole('heading', { name: 'Circuit: open', exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByRole('heading', { name: 'Circuit: closed', exact: true })).toBeVisible()
})

test('an event type is created, changed with its digits, deleted and restored', async ({ page, backend, tenant }) => {
  await signIn(page, backend, '/event-types')
  await accessible(page)
  await page.getByRole('link', { name: 'New event type' }).first().click()
  await page.getByLabel('Schema of the payload').fill('{"type":')
  await page.getByRole('button', { name: 'New event type' }).click()
  await expect(page.getByText('is not valid JSON')).toBeVisible()
  await page.getByLabel('Schema of the payload').fill('{"type":"object","properties":{"big":{"type":"integer"}},"required":["big"]}')
  await page.getByLabel('Example').fill('{}')
  await page.getByRole('button', { name: 'New event type' }).click()
  await expect(page.getByText('is missing')).toBeVisible()
  await page.getByLabel('Event type', { exact: true }).fill(`${tenant}.made`)
  await page.getByRole('button', { name: 'New event type' }).click()
  await expect(page.locator('.wrong')).toContainText('big') // in the API's words, at the example
  await accessible(page)
  await page.getByLabel('Example').fill('{"big": 12345678901234567890}')
  await page.getByRole('button', { name: 'New event type' }).click()
  await expect(page.getByRole('heading', { name: `${tenant}.made`, level: 1 })).toBeVisible()
  await page.getByLabel('Description').fill('Made by hand.')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.getByText('The event type is saved').last()).toBeVisible()
  await expect(page.getByRole('main')).toContainText('Made by hand.')
  await expect(page.locator('pre', { hasText: '12345678901234567890' })).toBeVisible() // JSON.parse would round it
  await accessible(page)
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByText('The event type is deleted')).toBeVisible()
  await expect(page.getByRole('link', { name: `${tenant}.made` })).toHaveCount(0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: `${tenant}.made` }).click()
  await expect(page.locator('pre', { hasText: '12345678901234567890' })).toBeVisible()
  await backend.call('DELETE', `/v1/event-types/${tenant}.made`)
})

test('a change by another does not vanish under a form', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}?tab=settings`)
  await page.getByLabel('Timeout').fill('20s')
  await backend.call('PATCH', `/v1/tenants/${tenant}/endpoints/${endpoint}`, { description: 'by another' })
  await expect(page.getByLabel('Timeout')).toHaveValue('20s')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.getByText('Someone changed this in the meantime')).toBeVisible()
})

test('the script is small', async ({ page, backend }) => {
  const sizes: Promise<number>[] = []
  page.on('response', (r) => {
    if (r.url().endsWith('.js')) sizes.push(r.request().sizes().then((s) => s.responseBodySize))
  })
  await signIn(page, backend)
  const total = (await Promise.all(sizes)).reduce((sum, n) => sum + n, 0)
  expect(total).toBeGreaterThan(50_000)
  expect(total).toBeLessThan(250_000)
})

test('an endpoint sends from another region or from fixed addresses', async ({ page, backend, receiver, tenant }) => {
  const choices = await backend.call<{ addresses: string[] }>('GET', `/v1/tenants/${tenant}/egress`)
  test.skip(choices.addresses.length === 0, 'this deployment has no fixed addresses')
  await signIn(page, backend, `/t/${tenant}`)
  await page.getByRole('link', { name: 'New endpoint' }).click()
  await page.getByLabel('URL').fill(receiver.url('/hook'))
  await page.getByRole('button', { name: 'Body, authentication, limits and more' }).click()
  await page.getByRole('combobox', { name: 'Sent from' }).click()
  await page.getByRole('option', { name: 'us-east-1' }).click()
  await page.getByRole('combobox', { name: 'Sent over' }).click()
  await page.getByRole('option', { name: 'The internet, from fixed addresses only' }).click()
  await expect(page.getByText('Fixed addresses, for firewalls: 127.0.0.1')).toBeVisible()
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await expect(page.locator('.wrong')).toHaveCount(1) // the fixed addresses are in the own region
  await page.getByRole('combobox', { name: 'Sent from' }).click()
  await page.getByRole('option', { name: 'This region' }).click()
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await expect(page.getByText(/^whsec_/)).toBeVisible()
})

// The process of the tests has no events queue, so the answers are the contract's.
test('rejects are listed and redriven', async ({ page, backend }) => {
  const reject = {
    id: '5fea7756-0ea4-451a-a703-a558b933e274',
    reason: 'the request is not valid; event_type: is missing',
    sent_at: '2026-11-21T09:30:00.000Z',
    rejected_at: '2026-11-21T09:30:00.120Z',
    body: canary,
    cut: false,
  }
  let left = [reject, { ...reject, id: 'b', reason: undefined, tenant: 'acme', event_type: 'order.paid', body: '{"order":1042}' }]
  let calls = 0
  await page.route('**/v1/rejects?*', (route) => route.fulfill({ json: { data: left } }))
  await page.route('**/v1/rejects/redrive', (route) => {
    calls++
    if (calls === 2) left = []
    return route.fulfill({ json: { redriven: 1, failed: calls - 1, more: calls === 1 } })
  })
  await signIn(page, backend, '/rejects')
  await expect(page.getByText('event_type: is missing')).toBeVisible()
  await expect(page.getByText('Surehook failed a thousand times')).toBeVisible()
  await accessible(page)
  await page.getByRole('button', { name: 'Redrive all' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Redrive all' }).click()
  await expect(page.getByText('Sent 2 messages to the events queue. It does not take 1: too large, for example.')).toBeVisible()
  await expect(page.getByText('No rejects')).toBeVisible()
  expect(calls).toBe(2)
  expect(await page.evaluate(() => 'broken' in window)).toBe(false)
})

test('an endpoint delivers to an event bus', async ({ page, backend, tenant }) => {
  const destinations = { types: ['sqs', 'eventbridge'], role_path: '/surehook/', principal: 'arn:aws:iam::999988887777:role/deliver' }
  await page.route(`**/v1/tenants/${tenant}/egress`, (route) => route.fulfill({ json: { regions: [], addresses: [], destinations } }))
  await signIn(page, backend, `/t/${tenant}`)
  await page.getByRole('link', { name: 'New endpoint' }).click()
  await page.getByRole('combobox', { name: 'Destination' }).click()
  await page.getByRole('option', { name: 'An event bus (EventBridge)' }).click()
  await expect(page.getByText('Its trust policy names arn:aws:iam::999988887777:role/deliver')).toBeVisible()
  await page.getByLabel('URL').fill('arn:aws:events:eu-west-1:111122223333:event-bus/orders')
  await page.getByLabel('Role').fill('arn:aws:iam::111122223333:role/surehook/orders')
  await page.getByLabel('Source of the events').fill('com.example.shop')
  const sent = page.waitForRequest((r) => r.method() === 'POST' && r.url().endsWith(`/v1/tenants/${tenant}/endpoints`))
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  expect((await sent).postDataJSON()).toMatchObject({
    url: 'arn:aws:events:eu-west-1:111122223333:event-bus/orders',
    destination: { type: 'eventbridge', role_arn: 'arn:aws:iam::111122223333:role/surehook/orders', source: 'com.example.shop' },
  })
})
