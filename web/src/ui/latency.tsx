import { useMemo } from 'react'
import type { Schemas } from '../api/client'
import { goDuration, milliseconds } from '../format'
import { text } from '../text'
import { Chart } from './chart'
import { Card } from './page'

const t = text.latency

/** The latency of attempts by the hour over the last 24 hours; nothing before the first answer. rows are statistics by the hour. */
export function LatencyChart({ rows }: { rows?: Schemas['StatsRow'][] }) {
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
