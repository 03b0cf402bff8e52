import type { Schemas } from './api/client'

export type StatsRow = Schemas['StatsRow']
export type Part = 'delivered' | 'failed' | 'dead'
export type Counts = Record<Part, number>
/** What happened in a clock hour: deliveries that succeeded, attempts that failed, and deliveries that died. */
export type Hour = { hour: string } & Counts

export const parts = ['delivered', 'failed', 'dead'] as const
export const hourLong = 3_600_000

/** The counts of a row. The last failed attempt of a dead delivery counts in failed and in dead; see stacked. */
export const countsOf = (r?: StatsRow): Counts => ({
  delivered: r?.delivered ?? 0,
  failed: r ? r.attempts - (r.attempts_by_outcome?.delivered ?? 0) : 0,
  dead: r?.dead ?? 0,
})

/** The counts as parts of a bar, in which a death counts once. */
export const stacked = (c: Counts): Counts => ({ ...c, failed: Math.max(0, c.failed - c.dead) })

type Stats = { since: string; until: string; data: StatsRow[] }

/** The rows of all clock hours from since to until; undefined for the empty hours, which answers leave out. */
export function everyHour({ since, until, data }: Stats): { start: number; row?: StatsRow }[] {
  const rows = new Map(data.map((r) => [Date.parse(r.hour ?? ''), r]))
  const hours: { start: number; row?: StatsRow }[] = []
  for (let start = Date.parse(since); start < Date.parse(until); start += hourLong) hours.push({ start, row: rows.get(start) })
  return hours
}

export const hoursOf = (stats: Stats): Hour[] => everyHour(stats).map(({ start, row }) => ({ hour: new Date(start).toISOString(), ...countsOf(row) }))

/** The last 25 clock hours with the counts of an endpoint, whose empty hours are absent. */
export function lastHours(of: Hour[]): Hour[] {
  const known = new Map(of.map((h) => [Date.parse(h.hour), h]))
  const now = Math.floor(Date.now() / hourLong) * hourLong
  return Array.from({ length: 25 }, (_, i) => {
    const start = now - (24 - i) * hourLong
    return known.get(start) ?? { hour: new Date(start).toISOString(), delivered: 0, failed: 0, dead: 0 }
  })
}

/** The hours of each tenant with rows of its own. */
export function hoursByTenant({ since, until, data }: Stats): Map<string, Hour[]> {
  const rows = new Map<string, StatsRow[]>()
  for (const r of data) if (r.tenant) rows.set(r.tenant, [...(rows.get(r.tenant) ?? []), r])
  return new Map([...rows].map(([tenant, of]) => [tenant, hoursOf({ since, until, data: of })]))
}

export const sum = (of: Counts[]): Counts => ({
  delivered: of.reduce((n, c) => n + c.delivered, 0),
  failed: of.reduce((n, c) => n + c.failed, 0),
  dead: of.reduce((n, c) => n + c.dead, 0),
})

/** The list of the tenant's deliveries from events of the span that the part counts. A failed attempt is not a state of a delivery. */
export function listPath(tenant: string, part: Part, from: number, until: number, endpoint?: string): string {
  const search = new URLSearchParams({ ...(part === 'failed' ? { failed_attempt: 'true' } : { state: part }), since: new Date(from).toISOString(), until: new Date(until).toISOString(), ...(endpoint && { endpoint }) })
  return `/t/${tenant}/deliveries?${search}`
}
