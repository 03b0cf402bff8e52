import type { Page } from '@playwright/test'
import { expect, signIn, test, type Backend, type Receiver } from './world'

// Pages of a tenant with 500 endpoints and 10,000 deliveries: few requests, and few rows.

const endpoints = 500
const events = 20

async function furnish(backend: Backend, receiver: Receiver, tenant: string): Promise<string> {
  await backend.call('PUT', `/v1/tenants/${tenant}/limits`, { changes_per_hour: 100_000 })
  for (let n = 0; n < 40; n++) receiver.answers.set(`/${n}`, { status: 400 })
  const made = async (n: number) => backend.endpoint(tenant, { url: receiver.url(`/${n}`), uid: `shop-${String(n).padStart(3, '0')}` })
  for (let n = 0; n < endpoints; n += 20) await Promise.all(Array.from({ length: 20 }, (_, i) => made(n + i)))
  const ids: string[] = []
  for (let i = 0; i < events; i++) ids.push(await backend.event(tenant, 'order.paid', { order: i }))
  await expect.poll(() => receiver.requests.length, { timeout: 240_000 }).toBeGreaterThanOrEqual(endpoints * events - 40 * events)
  return ids[0]!
}

/** What a page asks the API before it is at rest, and what it shows. */
async function load(page: Page, address: string) {
  const asked: string[] = []
  let bytes = 0
  const read: Promise<void>[] = []
  const count = (response: { url: () => string; body: () => Promise<Buffer> }) => {
    const { pathname, search } = new URL(response.url())
    if (!pathname.startsWith('/v1/')) return
    asked.push(pathname + search)
    read.push(response.body().then((body) => void (bytes += body.length), () => undefined))
  }
  await page.goto('about:blank')
  page.on('response', count)
  await page.goto(address)
  await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible()
  await page.waitForLoadState('networkidle')
  await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
  page.off('response', count)
  await Promise.all(read)
  const [rows, elements] = await page.evaluate(() => [document.querySelectorAll('main tbody tr, main section.card, main .timeline > li').length, document.querySelectorAll('*').length])
  return { asked, bytes, rows: rows!, elements: elements! }
}

test('pages of 500 endpoints and 10,000 deliveries ask and show little', async ({ page, backend, receiver, tenant }) => {
  test.setTimeout(420_000)
  const event = await furnish(backend, receiver, tenant)
  const newest = await backend.call<{ data: { id: string }[] }>('GET', `/v1/tenants/${tenant}/deliveries?limit=1`)
  await signIn(page, backend)
  await page.clock.install() // no page reads again
  const of = `/t/${tenant}`
  for (const [path, requests, rows] of [
    ['', 4, 30],
    ['/tenants', 2, 100],
    [of, 4, 32],
    [`${of}/endpoints`, 1, 101],
    [`${of}/endpoints?all=1`, 1, 501],
    [`${of}/endpoints/shop-499`, 6, 20],
    [`${of}/endpoints/shop-499?tab=deliveries`, 4, 51],
    [`${of}/events`, 3, 51],
    [`${of}/events/${event}`, 3, 102],
    [`${of}/events/evt_${newest.data[0]!.id.split('_')[1]}?delivery=${newest.data[0]!.id}`, 6, 106], // its endpoint is asked for by itself if the first hundred rows do not have it
    [`${of}/deliveries`, 3, 51],
    [`${of}/dead-letters`, 2, 60],
    [`${of}/changes`, 2, 51],
    [`${of}/replays`, 1, 21],
  ] as const) {
    const seen = await load(page, `${backend.address}/console${path}`)
    console.log(`${path.replace(tenant, 'TENANT').slice(0, 44).padEnd(46)} ${seen.asked.length} requests, ${Math.ceil(seen.bytes / 1024)} KiB, ${seen.rows} rows, ${seen.elements} elements`)
    if (process.env.ASKED) console.log(seen.asked.join('\n'))
    expect.soft(seen.asked.length, `requests of ${path}: ${seen.asked.join(', ')}`).toBeLessThanOrEqual(requests)
    expect.soft(seen.rows, `rows of ${path}`).toBeLessThanOrEqual(rows)
  }

  // An event says that it has more deliveries, and an address finds one of a later page.
  type List = { data: { id: string }[]; next_cursor: string }
  const list = (cursor = '') => backend.call<List>('GET', `/v1${of.replace('/t/', '/tenants/')}/events/${event}/deliveries?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
  const later = (await list((await list()).next_cursor)).data[50]!.id
  await page.goto(`${backend.address}/console${of}/events/${event}?delivery=${later}`)
  await expect(page.getByRole('region', { name: later })).toBeVisible()
  await page.getByRole('link', { name: 'Next page' }).click()
  await expect(page.getByRole('link', { name: 'First page' })).toBeVisible()
})
