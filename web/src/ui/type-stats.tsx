import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useTypeStats } from '../api/reads'
import { compact, duration, percent } from '../format'
import { text } from '../text'
import type { Activity } from './activity'
import { Button } from './controls'
import { Table } from './list'
import { Card } from './page'

const t = text.typeStats
const shown = 8

/** The attempts by event type, those with the most attempts first; nothing without attempts. Reads: once a minute the statistics by type. */
export function TypeStats({ of: { tenant, endpoint, span, wanted, refused } }: { of: Activity }) {
  const rows = useTypeStats(tenant, endpoint, wanted && !refused ? 7 : 1).data?.data ?? []
  const [all, setAll] = useState(false)
  if (rows.length === 0) return null
  const end = (name: string) => ({ name, look: 'end' as const })
  return (
    <Card
      title={t.title}
      aside={<span className="soft small">{`${span} · ${t.within}`}</span>}
      foot={
        rows.length > shown &&
        !all && (
          <Button tiny onClick={() => setAll(true)}>
            {t.all(rows.length)}
          </Button>
        )
      }
    >
      <Table columns={[text.deliveries.event, ...[text.deliveries.attempts, t.success, text.latency.p95, text.latency.p99, text.endpoint.dead].map(end)]}>
        {rows.slice(0, all ? undefined : shown).map((r) => (
          <tr key={r.event_type ?? ''}>
            <td>
              {r.event_type ? (
                <Link className="strong" to="/t/$tenant/deliveries" params={{ tenant }} search={{ event_type: r.event_type, endpoint }}>
                  {r.event_type}
                </Link>
              ) : (
                <span className="soft">{text.overview.others}</span>
              )}
            </td>
            <td className="end" data-label={text.deliveries.attempts}>
              {compact(r.attempts)}
            </td>
            <td className="end" data-label={t.success}>
              {percent(r.success_rate)}
            </td>
            <td className="end" data-label={text.latency.p95}>
              {r.latency ? duration(r.latency.p95) : '–'}
            </td>
            <td className="end" data-label={text.latency.p99}>
              {r.latency ? duration(r.latency.p99) : '–'}
            </td>
            <td className={`end ${r.dead ? 'bad' : ''}`} data-label={text.endpoint.dead}>
              {compact(r.dead)}
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  )
}
