import type { Page } from '@playwright/test'

export const hourLong = 3_600_000

type Figures = { delivered?: number; failed?: number; dead?: number; p50?: number; tenant?: string; other?: boolean }

/** A row of the API's statistics. Latency is in milliseconds. */
export function row({ delivered = 0, failed = 0, dead = 0, p50, tenant, other }: Figures, hour?: number) {
  const attempts = delivered + failed
  return {
    ...(hour !== undefined && { hour: new Date(hour).toISOString() }),
    ...(tenant && { tenant }),
    ...(other && { other }),
    attempts,
    ...(attempts && { success_rate: delivered / attempts, attempts_by_outcome: { ...(delivered && { delivered }), ...(failed && { unavailable: failed }) } }),
    delivered,
    dead,
    ...(p50 && { latency: { samples: attempts, p50: `${p50}ms`, p95: `${p50 * 3}ms`, p99: `${p50 * 5}ms` } }),
    attempts_by_number: [attempts],
    delivered_by_attempt: [delivered],
  }
}

/** Statistics by the hour: of(n) are the figures of the nth of the hours, none for an empty hour. The last hour is the current one. */
export function hourly(hours: number, of: (n: number) => Figures | Figures[] | undefined, now = Date.now()) {
  const current = Math.floor(now / hourLong) * hourLong
  const first = current - (hours - 1) * hourLong
  const data = Array.from({ length: hours }, (_, n) => [of(n) ?? []].flat().map((figures) => row(figures, first + n * hourLong))).flat()
  return { complete: true, since: new Date(first).toISOString(), until: new Date(now).toISOString(), endpoints: 1, data }
}

/** Answers the page's reads of statistics with answer(search of the read); the API answers where it is undefined. */
export async function withStats(page: Page, path: string, answer: (search: URLSearchParams) => object | undefined) {
  await page.route((url) => url.pathname === path, async (route) => {
    const json = answer(new URL(route.request().url()).searchParams)
    await (json ? route.fulfill({ json }) : route.continue())
  })
}
