import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { goDuration, milliseconds } from '../format'
import { text } from '../text'
import { Chart } from '../ui/chart'
import { Card } from '../ui/page'

const t = text.endpoint

/** The latency of the endpoint by the hour; nothing before the first answered attempt. */
export function LatencyChart({ tenant, endpoint }: { tenant: string; endpoint: string }) {
  const stats = useQuery({
    queryKey: [tenant, 'stats', endpoint],
    queryFn: () =>
      ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/stats', { params: { path: { tenant, endpoint }, query: { by: 'hour' } } })),
  })
  const rows = stats.data?.data
  const drawn = useMemo(() => (rows ? lines(rows) : null), [rows])
  if (!drawn || drawn.times.length === 0) return null
  return (
    <Card title={t.byHour} pad>
      <Chart label={t.byHour} times={drawn.times} series={drawn.series} format={milliseconds} />
    </Card>
  )
}

function lines(rows: Schemas['StatsRow'][]) {
  const answered = rows.filter((r) => r.hour && r.latency)
  const of = (name: 'p50' | 'p95' | 'p99') => answered.map((r) => goDuration(r.latency![name]))
  return {
    times: answered.map((r) => new Date(r.hour!).getTime() / 1000),
    series: [
      { label: t.p50, color: '--good', values: of('p50') },
      { label: t.p95, color: '--warn', values: of('p95') },
      { label: t.p99, color: '--bad', values: of('p99') },
    ],
  }
}
