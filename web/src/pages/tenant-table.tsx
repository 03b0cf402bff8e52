import { Link } from '@tanstack/react-router'
import { compact, duration, percent } from '../format'
import { countsOf, type Hour, hourLong, listPath, type Part, parts, type StatsRow } from '../hours'
import { text } from '../text'
import { Choice } from '../ui/choice'
import { Table } from '../ui/list'
import { SparkCell } from '../ui/spark'

const t = text.tenants

/** What tenants are sorted by: attempts, or failed attempts. */
export type TenantOrder = 'volume' | 'failures'

const ranks: Record<TenantOrder | Part, (r: StatsRow) => number> = {
  volume: (r) => r.attempts,
  failures: (r) => countsOf(r).failed,
  delivered: (r) => r.delivered,
  failed: (r) => countsOf(r).failed,
  dead: (r) => r.dead,
}

/** Highest first; equal tenants by deaths, then by attempts. The row of all others is last. */
export const ordered = (rows: StatsRow[], by: TenantOrder | Part) =>
  [...rows].sort((a, b) => Number(!!a.other) - Number(!!b.other) || ranks[by](b) - ranks[by](a) || b.dead - a.dead || b.attempts - a.attempts)

export function OrderChoice<T extends string>({ value, more = [], onChange }: { value: T | TenantOrder; more?: { value: T; label: string }[]; onChange: (by: T | TenantOrder) => void }) {
  const options = [...more, ...(['failures', 'volume'] as const).map((by) => ({ value: by, label: t.orders[by] }))]
  return <Choice<T | TenantOrder> label={t.order} value={value} options={options} onChange={onChange} />
}

/** Tenants with their statistics. With an hour, which is a time in milliseconds, the figures lead to its deliveries. */
export function TenantTable({ rows, sparks, hour }: { rows: StatsRow[]; sparks?: Map<string, Hour[]>; hour?: number }) {
  return (
    <Table columns={[t.id, ...(hour ? [] : [text.activity.today]), ...[text.overview.success, text.overview.p95, ...parts.map((part) => text.activity.parts[part])].map((name) => ({ name, look: 'end' as const }))]}>
      {rows.map((r) => (
        <tr key={r.tenant ?? ''}>
          <td>
            {r.tenant ? (
              <Link className="strong" to="/t/$tenant" params={{ tenant: r.tenant }}>
                {r.tenant}
              </Link>
            ) : (
              text.overview.others
            )}
          </td>
          {!hour && <SparkCell hours={sparks?.get(r.tenant ?? '')} />}
          <td className="end" data-label={text.overview.success}>
            {percent(r.success_rate)}
          </td>
          <td className="end" data-label={text.overview.p95}>
            {r.latency ? duration(r.latency.p95) : '–'}
          </td>
          {parts.map((part) => {
            const n = countsOf(r)[part]
            return (
              <td key={part} className={`end ${part === 'dead' && n ? 'bad' : ''}`} data-label={text.activity.parts[part]}>
                {hour && r.tenant && n > 0 ? <Link to={listPath(r.tenant, part, hour, hour + hourLong)}>{compact(n)}</Link> : compact(n)}
              </td>
            )
          })}
        </tr>
      ))}
    </Table>
  )
}
