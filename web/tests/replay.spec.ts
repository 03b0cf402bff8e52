import type { Page } from '@playwright/test'
import { accessible, type Backend, expect, openPortal, type Receiver, signIn, test } from './world'

/** Lets n deliveries of the endpoint die. */
async function die(backend: Backend, tenant: string, n: number, type = 'order.paid') {
  const events = await Promise.all([...Array(n).keys()].map((i) => backend.event(tenant, type, { i })))
  for (const event of events) await backend.settled(tenant, event, 'dead')
}

async function failing(backend: Backend, receiver: Receiver, tenant: string, uid = 'erp', path = '/hook') {
  receiver.answers.set(path, { status: 400 })
  return backend.endpoint(tenant, { url: receiver.url(path), uid, event_types: [`${uid}.*`] })
}

const dialog = (page: Page) => page.getByRole('dialog')

for (const width of [1440, 390]) {
  test(`ten deliveries go first, then the rest, at ${width} pixels`, async ({ page, backend, receiver, tenant }) => {
    await page.setViewportSize({ width, height: 844 })
    await failing(backend, receiver, tenant)
    const paused = await failing(backend, receiver, tenant, 'crm', '/crm')
    await die(backend, tenant, 12, 'erp.made')
    await die(backend, tenant, 1, 'crm.made')
    await backend.call('POST', `/v1/tenants/${tenant}/endpoints/${paused}/pause`, {})
    await signIn(page, backend, `/t/${tenant}/dead-letters`)
    await expect(page.getByText('13 deliveries died in the last 14 days')).toBeVisible()
    await page.getByRole('button', { name: 'Replay all…' }).click()
    await expect(dialog(page).getByText('13 deliveries to 2 endpoints will be sent again')).toBeInViewport()
    await expect(dialog(page).getByRole('listitem').filter({ hasText: 'is paused' })).toContainText('crm')
    await expect(dialog(page).getByRole('listitem').filter({ hasText: 'is failing' })).toContainText('erp')
    await expect(dialog(page).getByRole('button', { name: 'Replay all 13' })).not.toHaveClass(/primary/)
    await expect(dialog(page).getByRole('button', { name: 'Replay all 13' })).toBeInViewport()
    await accessible(page)
    expect(await dialog(page).evaluate((d) => d.scrollWidth - d.clientWidth)).toBe(0)

    // A narrower filter is counted anew, also after Enter, which starts nothing.
    await dialog(page).getByLabel('Event types').fill('erp.made')
    await dialog(page).getByLabel('Event types').press('Enter')
    await expect(dialog(page).getByText('12 deliveries to 1 endpoint will be sent again')).toBeVisible()
    receiver.answers.set('/hook', { status: 200 })
    await dialog(page).getByRole('button', { name: 'Replay 10 first' }).click()
    await expect(dialog(page).getByText('10 of 10 have a result')).toBeVisible()
    await accessible(page)
    expect(await dialog(page).evaluate((d) => d.scrollWidth - d.clientWidth)).toBe(0)
    await dialog(page).getByRole('button', { name: 'Replay the other 2' }).click()
    await expect(page.getByText('2 of 2 have a result')).toBeVisible()
    await expect(page.getByText('All delivered')).toBeVisible()
    await page.getByRole('link', { name: 'Replays', exact: true }).first().click()
    await expect(page.getByText('All delivered')).toHaveCount(2)
    await accessible(page)
  })
}

test('a job says what died again, and a second job why it skips', async ({ page, backend, receiver, tenant }) => {
  await failing(backend, receiver, tenant)
  await die(backend, tenant, 2, 'erp.made')
  await signIn(page, backend, `/t/${tenant}/replays`)
  await page.getByRole('button', { name: 'New replay…' }).click()
  await dialog(page).getByRole('button', { name: 'Replay all 2' }).click()
  await expect(page.getByText('2 not delivered')).toBeVisible()
  await expect(page.getByRole('img', { name: 'Delivered: 0, Dead again: 2' })).toBeVisible()

  receiver.answers.set('/hook', { status: 503 }) // the next replays wait for a retry
  for (const sent of ['0 of 2 have a result', '0 of 0 have a result']) {
    await page.goto(`${backend.address}/console/t/${tenant}/replays`)
    await page.getByRole('button', { name: 'New replay…' }).click()
    await dialog(page).getByRole('button', { name: 'Replay all 2' }).click()
    await expect(page.getByText(sent)).toBeVisible()
  }
  await expect(page.getByText('2 already replayed')).toBeVisible()
  await expect(page.getByText('Nothing to do')).toBeVisible()
})

test('the dialog takes the filters of its page, and says which it does not have', async ({ page, backend, receiver, tenant }) => {
  const endpoint = await failing(backend, receiver, tenant)
  await die(backend, tenant, 2, 'erp.made')
  const list = await backend.call<{ data: { created_at: string }[] }>('GET', `/v1/tenants/${tenant}/deliveries`)
  const newest = list.data[0]!.created_at
  await die(backend, tenant, 1, 'erp.changed')
  const after = new Date(Date.parse(newest) + 1).toISOString()
  await signIn(page, backend)
  for (const path of [`/t/${tenant}/deliveries?since=${after}`, `/t/${tenant}/endpoints/${endpoint}?tab=deliveries&since=${after}`, `/t/${tenant}/deliveries?event_type=erp.changed`]) {
    await page.goto(`${backend.address}/console${path}`)
    await page.getByRole('search').getByRole('button', { name: 'Replay…' }).click()
    await expect(dialog(page).getByText('1 delivery to 1 endpoint will be sent again'), path).toBeVisible()
    await expect(dialog(page).getByText('idempotency key')).toHaveCount(0)
  }
  await page.goto(`${backend.address}/console/t/${tenant}/deliveries?status_class=4xx`)
  await page.getByRole('search').getByRole('button', { name: 'Replay…' }).click()
  await expect(dialog(page).getByText('The answer and the idempotency key are not part of the filter')).toBeVisible()
  await dialog(page).getByLabel('HTTP status').fill('99')
  await dialog(page).getByLabel('HTTP status').blur()
  await expect(dialog(page).getByText('HTTP status must be 100 to 599')).toBeVisible()
  await expect(dialog(page).getByRole('button', { name: /^Replay all/ })).toBeDisabled()
})

test('a count that stopped early is a lower bound everywhere', async ({ page, backend, receiver, tenant }) => {
  await failing(backend, receiver, tenant)
  await die(backend, tenant, 1, 'erp.made')
  await page.route(`**/v1/tenants/${tenant}/replays`, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), complete: false } })
  })
  await signIn(page, backend, `/t/${tenant}/dead-letters`)
  await page.getByRole('button', { name: 'Replay all…' }).click()
  await expect(dialog(page).getByText('At least 1 delivery to 1 endpoint will be sent again')).toBeVisible()
  await expect(dialog(page).getByRole('listitem').filter({ hasText: 'erp' }).first()).toContainText('at least 1')
  await expect(dialog(page).getByRole('button', { name: 'Replay all at least 1' })).toHaveCount(0)
  await expect(dialog(page).getByRole('button', { name: 'Replay all', exact: true })).toBeVisible()
  await expect(dialog(page).getByRole('button', { name: 'Replay 10 first' })).toBeVisible()
})

test('the dead letters of a cause are discarded, and nothing is sent', async ({ page, backend, receiver, tenant }) => {
  await failing(backend, receiver, tenant)
  await die(backend, tenant, 3, 'erp.made')
  const requests = receiver.requests.length
  await signIn(page, backend, `/t/${tenant}/dead-letters`)
  await page.locator('section', { hasText: '3 letters' }).getByRole('button', { name: 'Discard…' }).click()
  await expect(dialog(page).getByText('3 deliveries to 1 endpoint will be discarded')).toBeVisible()
  await accessible(page)
  await dialog(page).getByRole('button', { name: 'Discard 3' }).click()
  await expect(page.getByText('3 deliveries discarded')).toBeVisible()
  await page.goto(`${backend.address}/console/t/${tenant}/dead-letters`)
  await expect(page.getByRole('heading', { name: 'No dead letters' })).toBeVisible()
  expect(receiver.requests.length).toBe(requests)
})

test('the portal replays failed deliveries, without words of operators', async ({ page, backend, receiver, tenant }) => {
  await failing(backend, receiver, tenant)
  await die(backend, tenant, 1, 'erp.made')
  await openPortal(page, backend, tenant)
  await page.goto(`${backend.address}/portal/t/${tenant}/dead-letters`)
  await page.getByRole('button', { name: 'Replay all…' }).click()
  await expect(dialog(page).getByRole('heading', { name: 'Replay failed deliveries' })).toBeVisible()
  await expect(dialog(page).getByText('1 delivery to 1 endpoint will be sent again')).toBeVisible()
  expect(await dialog(page).innerText()).not.toMatch(/dead|circuit|parked/i)
  await accessible(page)
  receiver.answers.set('/hook', { status: 200 })
  await dialog(page).getByRole('button', { name: 'Replay 1', exact: true }).click()
  await expect(page.getByText('1 of 1 have a result')).toBeVisible()
  await expect(page.getByText('All delivered')).toBeVisible()
})

test('a job shows how much is left, and after its cancellation what still goes out', async ({ page, backend, receiver, tenant }) => {
  const id = await failing(backend, receiver, tenant)
  await die(backend, tenant, 2, 'erp.made')
  const job = await backend.call<{ id: string }>('POST', `/v1/tenants/${tenant}/replays`, { filter: { endpoint: id }, expected: 36 })
  let now: object = { state: 'running', selected: 12, enqueued: 10, skipped: 2, delivered: 4, dead: 1, cancelled: 0, in_progress: 5 }
  await page.route((url) => url.pathname === `/v1/tenants/${tenant}/replays/${job.id}`, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...((await response.json()) as object), ...now } })
  })
  await signIn(page, backend, `/t/${tenant}/replays/${job.id}`)
  await expect(page.getByText('5 of 34 have a result')).toBeVisible()
  await expect(page.locator('.stat', { hasText: 'Not queued yet' })).toContainText('24')
  const [filled, bar] = await Promise.all(['.progress .part.good', '.progress'].map(async (s) => (await page.locator(s).boundingBox())!.width))
  expect(filled! / bar!).toBeLessThan(0.15)
  await accessible(page)
  now = { state: 'cancelled', selected: 15, enqueued: 13, skipped: 2, delivered: 4, dead: 0, cancelled: 1, in_progress: 8 }
  await expect(page.getByText('Cancelled; 8 still go out')).toBeVisible()
  await expect(page.getByText('not delivered')).toHaveCount(0)
})
