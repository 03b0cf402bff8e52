import type { Locator } from '@playwright/test'
import { accessible, expect, fits, lookAt, openPortal, signIn, test } from './world'

const tone = (row: Locator, word: string) => row.locator('.badge', { hasText: word })

/** Three endpoints: one refuses every event, one takes all, one gets none. */
async function three({ backend, receiver, tenant }: Pick<Parameters<Parameters<typeof test>[2]>[0], 'backend' | 'receiver' | 'tenant'>, deaths = 1) {
  receiver.answers.set('/broken', { status: 401 })
  await backend.endpoint(tenant, { url: receiver.url('/quiet'), uid: 'a-quiet', event_types: ['never.sent'] })
  await backend.endpoint(tenant, { url: receiver.url('/fine'), uid: 'b-fine', event_types: ['order.paid'] })
  await backend.endpoint(tenant, { url: receiver.url('/broken'), uid: 'c-broken', event_types: ['invoice.sent'] })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  const events = await Promise.all(Array.from({ length: deaths }, (_, n) => backend.event(tenant, 'invoice.sent', { n })))
  for (const event of events) await backend.settled(tenant, event, 'dead')
}

for (const [page, path] of [['overview of the tenant', ''], ['list of endpoints', '/endpoints']] as const) {
  test(`the ${page} shows a failing endpoint in red and first, a healthy one in green, a quiet one in neither`, async ({ page, backend, receiver, tenant }) => {
    await three({ backend, receiver, tenant })
    await signIn(page, backend, `/t/${tenant}${path}`)
    const rows = page.getByRole('row').filter({ has: page.locator('.badge') })
    await expect(rows.nth(0)).toContainText('c-broken')
    await expect(tone(rows.nth(0), 'Failing')).toHaveClass('badge bad')
    await expect(rows.nth(0)).toContainText('Refused, since')
    await expect(tone(rows.nth(1), 'Healthy')).toHaveClass('badge good')
    await expect(tone(rows.nth(2), 'Quiet')).toHaveClass('badge calm')
    await expect(rows.nth(0).locator('.good')).toHaveCount(0)
    await expect(rows.nth(0).getByRole('img', { name: 'Last 24 hours: Delivered 0, Failed attempts 1, Dead 1' })).toBeVisible()
    await expect(rows.nth(1).getByRole('img', { name: 'Last 24 hours: Delivered 1, Failed attempts 0, Dead 0' })).toBeVisible()
    await accessible(page)
  })
}

test('the overview of all tenants says what is wrong, names the failing endpoint, and leads to it and to its dead letters', async ({ page, backend, receiver, tenant }) => {
  await three({ backend, receiver, tenant }, 12) // more than other tests leave
  await signIn(page, backend)
  await expect(page.getByRole('heading', { name: 'Needs attention' })).toBeVisible()
  const need = page.getByRole('listitem').filter({ hasText: tenant }).filter({ hasText: 'c-broken is failing' })
  await expect(need).toContainText('12 dead letters')
  await expect(need.locator('svg').first()).toHaveClass(/bad/)
  await expect(page.getByText('b-fine')).toHaveCount(0)
  await accessible(page)
  await expect(page.locator('.verdict')).toContainText(/\d+ endpoints? of \d+ tenants? fails?; .*\d+ were lost/)
  await need.getByRole('link', { name: /View/ }).click()
  await expect(page.getByRole('heading', { level: 1 })).toContainText('c-broken')
  await page.goBack()
  await need.getByRole('link', { name: '12 dead letters' }).click()
  await expect(page.getByText('Credentials refused')).toBeVisible()
})

test('the overview shows ten endpoints of a cause, and all of them when asked', async ({ page, backend, receiver, tenant }) => {
  for (let n = 0; n < 12; n++) {
    receiver.answers.set(`/${n}`, { status: 401 })
    await backend.endpoint(tenant, { url: receiver.url(`/${n}`), uid: `shop-${n}` })
  }
  const event = await backend.event(tenant, 'order.paid', {})
  const dead = () => backend.call<{ data: { state: string }[] }>('GET', `/v1/tenants/${tenant}/events/${event}/deliveries`)
  await expect.poll(async () => (await dead()).data.filter((d) => d.state === 'dead').length).toBe(12)
  await signIn(page, backend)
  const need = page.getByRole('listitem').filter({ hasText: `${tenant}: 12 endpoints are failing` })
  await need.getByText('Which endpoints').click()
  await expect(need.getByRole('link', { name: /^shop-/ })).toHaveCount(10)
  await need.getByRole('button', { name: 'Show all 12' }).click()
  await expect(need.getByRole('link', { name: /^shop-/ })).toHaveCount(12)
  await expect(need.getByRole('button')).toHaveCount(0)
  await expect(need).toContainText('1 dead letter')
  await accessible(page)
  await lookAt(page, 'attention')
})

test('a failing endpoint with a closed circuit has nothing green in its title', async ({ page, backend, receiver, tenant }) => {
  await three({ backend, receiver, tenant })
  await signIn(page, backend, `/t/${tenant}/endpoints/c-broken`)
  const title = page.getByRole('heading', { level: 1 })
  await expect(tone(title, 'Failing')).toHaveClass('badge bad')
  await expect(title).toContainText('Circuit: closed')
  await expect(title.locator('.good')).toHaveCount(0)
})

test('a tenant whose endpoints work is all clear; a paused one needs attention, in neutral', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/fine'), uid: 'fine' })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  await signIn(page, backend, `/t/${tenant}`)
  await expect(page.getByRole('heading', { name: 'All clear' })).toBeVisible()
  await backend.call('POST', `/v1/tenants/${tenant}/endpoints/fine/pause`)
  await page.reload()
  await expect(page.getByRole('link', { name: /View.*fine is paused/ })).toBeVisible()
  await expect(tone(page.getByRole('row').filter({ hasText: 'fine' }), 'Paused')).toHaveClass('badge calm')
  await page.goto(`${backend.address}/console/t/${tenant}/endpoints/fine`)
  await expect(page.locator('.stats .value').first()).toHaveClass(/^value ?$/) // all succeeded, but nothing goes out
  await expect(page.getByRole('button', { name: 'Send test' })).toHaveCount(0) // the API would refuse it
  await expect(page.getByRole('heading', { level: 1 })).not.toContainText('Circuit')
  await expect(page.locator('header.title .primary')).toHaveText('Resume')
  await page.goto(backend.address + '/console/')
  await expect(page.locator('.verdict')).toContainText(/paused or disabled/)
  await page.goto(`${backend.address}/console/t/${tenant}/endpoints/fine`)
  await page.getByRole('button', { name: 'Resume' }).click()
  await expect(page.locator('header.title .primary')).toHaveText('Send test')
})

test('the portal says it in plain words, and one request reads all endpoints', async ({ page, backend, receiver, tenant }) => {
  await three({ backend, receiver, tenant })
  const reads: string[] = []
  page.on('request', (r) => {
    if (r.url().includes('/health')) reads.push(new URL(r.url()).pathname)
  })
  await openPortal(page, backend, tenant)
  const rows = page.getByRole('row').filter({ has: page.locator('.badge') })
  await expect(tone(rows.nth(0), 'Failing')).toHaveClass('badge bad')
  await expect(tone(rows.nth(1), 'Healthy')).toHaveClass('badge good')
  await expect(tone(rows.nth(2), 'No recent events')).toHaveClass('badge calm')
  await expect(page.locator('.verdict')).toContainText('; 1 delivery failed.')
  expect([...new Set(reads)]).toEqual([`/v1/tenants/${tenant}/health`])
})

// The size of a real backlog comes from the answer alone; that the API says it is a test of its own.
const backlogs = {
  lost: {
    backlog: { per_second: 20, drains_by: '2026-11-29T14:02:00.000Z', at_risk: 212_000, first_loss_at: '2026-11-28T09:12:00.000Z' },
    says: {
      'en-GB': 'At 20 a second, what waits takes until Sun 29 Nov, 14:02. 212,000 deliveries are lost before their turn, the first on Sat 28 Nov, 09:12. Raise “Rate limit per second” or “Give up after”.',
      'de-DE': 'Bei 20 pro Sekunde ist am So., 29. Nov., 14:02 alles hinaus, was jetzt wartet. 212.000 Zustellungen gehen verloren, bevor sie an der Reihe sind, die erste am Sa., 28. Nov., 09:12. Erhöhen Sie „Ratenlimit pro Sekunde“ oder „Aufgeben nach“.',
    },
  },
  drains: {
    backlog: { per_second: 20, drains_by: '2026-11-29T14:02:00.000Z', at_risk: 0 },
    says: { 'en-GB': 'At 20 a second, what waits takes until Sun 29 Nov, 14:02.', 'de-DE': 'Bei 20 pro Sekunde ist am So., 29. Nov., 14:02 alles hinaus, was jetzt wartet.' },
  },
}

for (const locale of ['en-GB', 'de-DE'] as const) {
  test.describe(locale, () => {
    test.use({ locale })
    for (const [name, { backlog, says }] of Object.entries(backlogs)) {
      test(`an endpoint says what is lost before it leaves: ${name}`, async ({ page, backend, receiver, tenant }) => {
        const id = await backend.endpoint(tenant, { url: receiver.url('/busy'), uid: 'busy', rate_per_second: 20 })
        await page.route((url) => url.pathname === `/v1/tenants/${tenant}/endpoints/${id}/health`, async (route) => {
          const answer = await route.fetch()
          const health = (await answer.json()) as { deliveries: object }
          await route.fulfill({ json: { ...health, backlog, deliveries: { ...health.deliveries, parked: 1_000_000, parked_by_reason: { rate: 1_000_000 } } } })
        })
        if (locale === 'en-GB') await signIn(page, backend, `/t/${tenant}/endpoints/${id}`)
        else {
          await openPortal(page, backend, tenant, 'Hauptmenü')
          await page.getByRole('link', { name: 'busy' }).first().click()
        }
        await expect(page.getByText(says[locale], { exact: true })).toBeVisible()
        await lookAt(page, `backlog-${locale}-${name}`, () => accessible(page))
      })
    }
  })
}

test('an endpoint and a delivery say when a parked delivery is given up', async ({ page, backend, receiver, tenant }) => {
  const id = await backend.endpoint(tenant, { url: receiver.url('/paused'), uid: 'paused', max_age: '1h' })
  await backend.call('POST', `/v1/tenants/${tenant}/endpoints/paused/pause`)
  const event = await backend.event(tenant, 'order.paid', {})
  await backend.settled(tenant, event, 'parked')
  await signIn(page, backend, `/t/${tenant}/endpoints/${id}`)
  await expect(page.getByText(/^Nothing goes out now. If nothing changes, the waiting delivery is lost on /)).toBeVisible()
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/paused.png` })
  await page.goto(page.url().replace(/\/endpoints.*/, `/events/${event}`))
  await expect(page.getByRole('listitem').filter({ hasText: 'Given up, unless delivered before' })).toContainText(/in 59 min|in 1 hr/)
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/delivery.png` })
})

test('the list of endpoints begins with the worst, and finds one by a part of its names', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/broken', { status: 400 })
  const id = await backend.endpoint(tenant, { url: receiver.url('/broken'), uid: 'zz-broken', description: 'Billing of Globex' })
  for (const uid of ['fine-1', 'fine-2']) await backend.endpoint(tenant, { url: receiver.url(`/${uid}`), uid })
  await backend.event(tenant, 'order.paid', {})
  await expect.poll(async () => (await backend.call<{ data: { dead: number }[] }>('GET', `/v1/tenants/${tenant}/health`)).data[0]?.dead).toBeGreaterThan(0)
  await signIn(page, backend, `/t/${tenant}/endpoints`)
  const rows = page.locator('tbody tr')
  await expect(rows).toHaveCount(3)
  await expect(rows.first()).toContainText('zz-broken')
  for (const [search, found] of [['FINE', 2], ['globex', 1], ['/broken', 1], [id, 1]] as const) {
    await page.getByLabel('Search', { exact: true }).fill(search)
    await page.getByLabel('Search', { exact: true }).press('Enter')
    await expect(rows).toHaveCount(found)
  }
  await page.getByLabel('Search', { exact: true }).fill('nobody')
  await page.getByLabel('Search', { exact: true }).press('Enter')
  await expect(page.getByText('No endpoint matches')).toBeVisible()
  await fits(page)
  await accessible(page)
})

test('an endpoint says in one sentence what is wrong, and keeps what waits for longer', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/broken', { status: 500, body: 'upstream failed' })
  const id = await backend.endpoint(tenant, { url: receiver.url('/broken'), uid: 'broken', max_age: '72h', circuit: { failures: 2 } })
  for (let i = 0; i < 4; i++) await backend.event(tenant, 'order.paid', { i })
  await expect.poll(async () => (await backend.call<{ backlog?: { at_risk: number } }>('GET', `/v1/tenants/${tenant}/endpoints/${id}/health`)).backlog?.at_risk).toBe(4)
  await signIn(page, backend, `/t/${tenant}/endpoints/${id}`)
  await expect(page.locator('.verdict')).toContainText(/^Failing since \d\d:\d\d: 500 Unavailable; 4 deliveries wait, the next probe /)
  await expect(page.getByText('Last answer: 500 Unavailable upstream failed')).toBeVisible()
  await expect(page.locator('.stat', { hasText: 'Success rate' }).locator('.value')).toHaveClass(/bad/)
  await expect(page.getByText('Attempts pass.')).toHaveCount(0)
  await page.getByRole('button', { name: 'Keep for 6 days' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Keep for 6 days' }).click()
  await expect.poll(async () => (await backend.call<{ max_age: string }>('GET', `/v1/tenants/${tenant}/endpoints/${id}`)).max_age).toBe('144h')
  await page.goto(`${backend.address}/console/nowhere`)
  await expect(page.getByText('There is no page or record with this address.')).toBeVisible()
})

test('the portal says what to do about refused credentials', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/closed', { status: 401 })
  await backend.endpoint(tenant, { url: receiver.url('/closed'), uid: 'closed' })
  for (let i = 0; i < 4; i++) await backend.event(tenant, 'order.paid', { i })
  await expect.poll(async () => (await backend.call<{ data: { dead: number }[] }>('GET', `/v1/tenants/${tenant}/health`)).data[0]?.dead).toBe(4)
  await openPortal(page, backend, tenant)
  await expect(page.locator('.needs')).toContainText('401')
  await expect(page.locator('.needs .todo')).toHaveText([/^Your server does not accept our credentials/])
  await accessible(page)
})

for (const [locale, menu, says, advice] of [
  ['en-GB', 'Main', /^One of your endpoints fails; 4 events wait; (1 expires|\d+ expire) if nothing changes, (the first )?on /, /^Your server answers with errors: fix it/],
  ['de-DE', 'Hauptmenü', /^Einer Ihrer Endpunkte scheitert; 4 Ereignisse warten; (1 verfällt|\d+ verfallen), wenn sich nichts ändert, (das erste )?am /, /^Ihr Server antwortet mit Fehlern/],
] as const) {
  test.describe(locale, () => {
    test.use({ locale })
    test('the portal begins with one sentence, and says what to do', async ({ page, backend, receiver, tenant }) => {
      receiver.answers.set('/broken', { status: 500 })
      const id = await backend.endpoint(tenant, { url: receiver.url('/broken'), uid: 'broken', circuit: { failures: 2 } })
      for (let i = 0; i < 4; i++) await backend.event(tenant, 'order.paid', { i })
      await expect.poll(async () => (await backend.call<{ backlog?: { at_risk: number } }>('GET', `/v1/tenants/${tenant}/endpoints/${id}/health`)).backlog?.at_risk).toBe(4)
      await openPortal(page, backend, tenant, menu)
      await expect(page.locator('.verdict')).toContainText(says)
      await expect(page.locator('.needs .todo')).toHaveText([advice])
      expect(await page.locator('main').innerText()).not.toMatch(/dead letter|circuit|parked/i)
      await accessible(page)
    })
  })
}

test('a dead delivery of an ordered endpoint blocks its key: its page and that of one that waits name it, and a replay frees them', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/carts', { status: 400 })
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/carts'), uid: 'carts', ordered: true })
  const post = async (n: number) => (await backend.call<{ id: string }>('POST', `/v1/tenants/${tenant}/events`, { event_type: 'cart.changed', payload: { n }, ordering_key: 'cart-7' })).id
  await backend.settled(tenant, await post(1), 'dead')
  const second = await post(2)
  await post(3)
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  const notice = page.locator('.notice', { hasText: 'The ordering key cart-7 stands still: number 1 is dead since' })
  await expect(notice).toContainText('2 deliveries behind it')
  await expect(notice).toContainText('Replay or discard that delivery, and the next one is sent.')
  await accessible(page)
  await fits(page)

  await page.goto(`${backend.address}/console/t/${tenant}/events/${second}`)
  const place = page.getByRole('listitem').filter({ hasText: 'Number 2 of the ordering key cart-7' })
  await expect(place).toContainText('Waits for number 1: dead, since')
  await accessible(page)
  await fits(page)
  await place.getByRole('link', { name: 'number 1' }).click()
  await expect(page.getByText('2 behind it')).toBeVisible()

  receiver.answers.delete('/carts')
  await page.getByRole('button', { name: 'Replay' }).first().click()
  await page.getByRole('dialog').or(page.getByRole('alertdialog')).getByRole('button', { name: 'Replay' }).click()
  await backend.settled(tenant, second, 'delivered')
  await page.goto(`${backend.address}/console/t/${tenant}/endpoints/${endpoint}`)
  await expect(page.getByText(/^Working: |attempts fail/).first()).toBeVisible()
  await expect(notice).toHaveCount(0)
})
