import { Link } from '@tanstack/react-router'
import { type Delivery, nameOf, useEndpoints } from '../api/reads'
import type { Schemas } from '../api/client'
import { duration, until } from '../format'
import { deliveryPath } from './paths'
import { text } from '../text'
import { Table } from './list'
import { Badge, type Tone } from './page'
import { Time } from './time'

const t = text.deliveries

const tones: Record<string, Tone> = { delivered: 'good', retrying: 'warn', parked: 'wait', dead: 'bad' }
export const toneOf = (state: string): Tone => tones[state] ?? 'calm'

export function StateBadge({ state }: { state: string }) {
  return <Badge tone={toneOf(state)}>{text.states[state] ?? state}</Badge>
}

/** What an endpoint answered, in a few words. */
export function outcome(o: { class: string; status?: number }): string {
  return o.status ? `${o.status} ${text.classes[o.class] ?? o.class}` : (text.classes[o.class] ?? o.class)
}

export function EndpointName({ tenant, id }: { tenant: string; id: string }) {
  const known = useEndpoints(tenant).data?.data.find((e) => e.id === id)
  return (
    <Link className="strong" to="/t/$tenant/endpoints/$endpoint" params={{ tenant, endpoint: id }}>
      {known ? nameOf(known) : <code>{id}</code>}
    </Link>
  )
}

export function LastAnswer({ of: last }: { of?: Schemas['Outcome'] }) {
  if (!last) return <span className="soft">–</span>
  return (
    <span className={last.class === 'delivered' ? '' : 'bad'} title={last.error}>
      {outcome(last)} <span className="soft number">{duration(last.duration)}</span>
    </span>
  )
}

export function DeliveryTable({ tenant, deliveries, endpoint }: { tenant: string; deliveries: Delivery[]; endpoint?: boolean }) {
  return (
    <Table columns={[t.event, t.state, ...(endpoint ? [t.endpoint] : []), t.last, { name: t.attempts, end: true }, t.next, t.created]}>
      {deliveries.map((d) => (
        <tr key={d.id}>
          <td>
            <Link className="strong" to={deliveryPath(tenant, d.id)}>
              {d.event_type}
            </Link>
            {d.generation > 1 && <span className="soft small"> {text.event.generation(d.generation)}</span>}
          </td>
          <td data-label={t.state} title={d.reason && text.reasons[d.reason]}>
            <StateBadge state={d.state} />
          </td>
          {endpoint && (
            <td data-label={t.endpoint}>
              <div className="clip">
                <EndpointName tenant={tenant} id={d.endpoint_id} />
              </div>
            </td>
          )}
          <td data-label={t.last}>
            <LastAnswer of={d.last} />
          </td>
          <td className="end" data-label={t.attempts}>
            {d.attempts}
          </td>
          <td className={d.next_attempt_at || d.gives_up_at ? '' : 'blank'} data-label={t.next}>
            <div>
              {d.next_attempt_at ? <Time at={d.next_attempt_at} /> : <span className="soft">–</span>}
              {d.gives_up_at && <div className="soft small">{t.lostAt(until(d.gives_up_at))}</div>}
            </div>
          </td>
          <td data-label={t.created}>
            <Time at={d.created_at} />
          </td>
        </tr>
      ))}
    </Table>
  )
}
