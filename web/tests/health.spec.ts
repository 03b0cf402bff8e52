import type { Locator } from '@playwright/test'
import { accessible, expect, openPortal, signIn, test } from './world'

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

test('the overview of all tenants names the failing endpoint and leads to its dead letters', async ({ page, backend, receiver, tenant }) => {
  await three({ backend, receiver, tenant }, 12) // more than other tests leave
  await signIn(page, backend)
  await expect(page.getByRole('heading', { name: 'Needs attention' })).toBeVisible()
  const need = page.getByRole('listitem').filter({ hasText: tenant }).filter({ hasText: 'c-broken is failing' })
  await expect(need).toContainText('12 dead letters')
  await expect(need.locator('svg').first()).toHaveClass(/bad/)
  await expect(page.getByText('b-fine')).toHaveCount(0)
  await accessible(page)
  await need.getByRole('link', { name: /View/ }).click()
  await expect(page.getByText('Credentials refused')).toBeVisible()
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
  expect([...new Set(reads)]).toEqual([`/v1/tenants/${tenant}/health`])
})
