import type { UseQueryResult } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { MouseEvent } from 'react'
import { ApiError, type Schemas } from '../api/client'
import { useHourlyStats } from '../api/reads'
import { compact, count } from '../format'
import { hourLong, hoursOf, listPath, type Part, parts, stacked, sum } from '../hours'
import { text } from '../text'
import { Chart, type Plot, useWidth } from './chart'
import { Choice } from './choice'
import { useFilter } from './filters'
import { Card } from './page'
import { Data } from './states'

const t = text.activity

type Stats = Pick<Schemas['Stats'], 'since' | 'until' | 'data'>

/**
 * The statistics of the tenant, or of one endpoint, over the days of the URL. The API refuses 7 days of many endpoints; their
 * last 24 hours stand in. Reads: the statistics once a minute, and twice while 7 days are refused.
 */
export function useActivity(tenant: string, endpoint?: string) {
  const { days }: { days?: string } = useSearch({ strict: false })
  const wanted = days === '7'
  const week = useHourlyStats(tenant, endpoint, { days: 7, enabled: wanted })
  const refused = wanted && week.error instanceof ApiError && week.error.status === 400
  const today = useHourlyStats(tenant, endpoint, { enabled: !wanted || refused })
  const read: UseQueryResult<Stats> = wanted && !refused && !(week.isPending && today.data) ? week : today
  return { read, span: read === week ? t.week : t.today, wanted, refused, tenant, endpoint }
}

export type Activity = ReturnType<typeof useActivity>

/** The choice of 24 hours or 7 days, for all figures and charts of the page. */
export function RangeChoice({ of: { wanted } }: { of: Activity }) {
  const set = useFilter()
  return (
    <div className="row">
      <Choice
        label={t.span}
        value={wanted ? '7' : '1'}
        options={Object.entries(t.spans).map(([value, label]) => ({ value, label }))}
        onChange={(days) => set({ days: days === '7' ? days : undefined })}
      />
    </div>
  )
}

/** Deliveries by the hour. */
export function ActivityCard({ of: { read, span, refused, tenant, endpoint } }: { of: Activity }) {
  return (
    <ActivityChart
      of={read}
      span={span}
      link={(part, from, until) => listPath(tenant, part, from, until, endpoint)}
      note={refused ? t.refused : t.lists}
    />
  )
}

type ChartProps = { of: UseQueryResult<Stats>; span: string; link: (part: Part, from: number, until: number) => string; note?: string }

/** Stacked bars: deliveries, failed attempts and deaths. A part of a bar, and its figure, lead to link. */
export function ActivityChart({ of, span, link, note }: ChartProps) {
  return (
    <Card title={t.title} pad>
      <div className="bars-place">
        <Data of={of}>{(stats) => <Bars of={stats} span={span} link={link} note={note} />}</Data>
      </div>
    </Card>
  )
}

// The least width of a column in pixels. Narrower hours are joined.
const narrowest = 4

function Bars({ of, span, link, note }: Omit<ChartProps, 'of'> & { of: Stats }) {
  const navigate = useNavigate()
  const [host, width] = useWidth()
  const hours = hoursOf(of)
  const joined = [1, 3, 6, 12].find((n) => (width * n) / hours.length >= narrowest) ?? 24
  const bars = Array.from({ length: Math.ceil(hours.length / joined) }, (_, i) => sum(hours.slice(i * joined, (i + 1) * joined)))
  const from = Date.parse(of.since)
  const step = joined * hourLong
  const total = sum(hours)
  const open = (e: MouseEvent, part: Part, bar: number) => {
    // Bars are too small for a finger: a touch chooses the column, and the legend has the links.
    if ((e.nativeEvent as PointerEvent).pointerType === 'touch') return
    const to = link(part, from + bar * step, from + (bar + 1) * step)
    void navigate({ to, resetScroll: !to.startsWith('/?') }) // the overview scrolls to its tenants
  }
  const draw = ({ left, column, y }: Plot) => {
    const gap = column >= 6 ? Math.min(column * 0.25, column - 3) : 1
    const wide = Math.min(34, column - gap)
    return bars.map(stacked).map((bar, i) => {
      let top = y(0)
      return (
        <g key={i}>
          {parts.map((part) => {
            if (bar[part] === 0) return null
            const high = Math.max(part === 'dead' ? 2 : 0, y(0) - y(bar[part])) // so that a single death among thousands of deliveries is visible
            top -= high
            return <rect key={part} className={`mark ${part}`} x={left(i) + (column - wide) / 2} y={top} width={wide} height={Math.max(high - 1, 1)} onClick={(e) => open(e, part, i)} />
          })}
        </g>
      )
    })
  }
  return (
    <Chart
      label={t.label}
      host={host}
      width={width}
      from={from}
      step={step}
      series={parts.map((part) => ({ name: t.parts[part], look: part, values: bars.map((b) => b[part]), link: (start, end) => link(part, start, end) }))}
      top={Math.max(...bars.map(stacked).map((b) => b.delivered + b.failed + b.dead))}
      unit={1}
      format={(n) => (n < 10_000 ? count(n) : compact(n))}
      rest={{ name: total.delivered + total.failed + total.dead === 0 ? t.none(span) : span, from, until: from + hours.length * hourLong, values: parts.map((part) => total[part]) }}
      note={note}
      draw={draw}
    />
  )
}
