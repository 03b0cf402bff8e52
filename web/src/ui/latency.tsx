import type { Schemas } from '../api/client'
import { goDuration, milliseconds } from '../format'
import { everyHour, hourLong } from '../hours'
import { text } from '../text'
import { Chart, type Plot, useWidth } from './chart'
import { Card } from './page'

const t = text.latency
const percentiles = ['p50', 'p95', 'p99'] as const

type Stats = Pick<Schemas['Stats'], 'since' | 'until' | 'data'>

/** The latency of attempts by the hour; nothing before the first answer. */
export function LatencyChart({ of }: { of?: Stats }) {
  if (!of?.data.some((r) => r.latency)) return null
  return (
    <Card title={t.title} pad>
      <Lines of={of} />
    </Card>
  )
}

function Lines({ of }: { of: Stats }) {
  const [host, width] = useWidth()
  const hours = everyHour(of)
  const series = percentiles.map((p) => ({ name: t[p], look: p, values: hours.map(({ row }) => (row?.latency ? goDuration(row.latency[p]) : null)) }))
  const answered = hours.flatMap(({ row }, i) => (row?.latency ? [i] : []))
  const last = answered.at(-1)!
  const draw = ({ left, column, y, shown }: Plot) => {
    const x = (hour: number) => left(hour) + column / 2
    return series.map(({ look, values }, n) => (
      <g key={look} className={look}>
        <path className="line" d={runs(values).map((run) => `M${run.map((i) => `${x(i)},${y(values[i]!)}`).join('L')}`).join('')} />
        {values.map((v, i) => v !== null && (i === shown || (values[i - 1] ?? values[i + 1] ?? null) === null) && <circle key={i} className="mark" cx={x(i)} cy={y(v)} r={3.5} />)}
        {answered.length === 1 && (
          <text className="value" x={x(last) + (last > 2 ? -9 : 9)} y={apart(series.map((s) => y(s.values[last]!)))[n]! + 4} textAnchor={last > 2 ? 'end' : 'start'}>
            {`${percentiles[n]} ${milliseconds(values[last]!)}`}
          </text>
        )}
      </g>
    ))
  }
  return (
    <Chart
      label={t.label}
      host={host}
      width={width}
      from={hours[0]!.start}
      step={hourLong}
      series={series}
      top={Math.max(...series.flatMap((s) => s.values.map((v) => v ?? 0)))}
      unit={1}
      format={milliseconds}
      rest={last}
      draw={draw}
    />
  )
}

/** The hours with values, in runs without an empty hour. */
function runs(values: (number | null)[]): number[][] {
  const all: number[][] = []
  values.forEach((v, i) => {
    if (v === null) return
    if (i > 0 && values[i - 1] !== null) all.at(-1)!.push(i)
    else all.push([i])
  })
  return all
}

/** The heights of labels, lowest first, moved up where two are less than a line of 14 pixels apart, but not out of the chart. */
const apart = (heights: number[]) =>
  heights.reduce<number[]>((placed, y, i) => [...placed, Math.max(Math.min(y, (placed.at(-1) ?? Infinity) - 14), 8 + 14 * (heights.length - 1 - i))], [])
