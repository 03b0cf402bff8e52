import { Link } from '@tanstack/react-router'
import { type Delivery, nameOf, useNamed } from '../api/reads'
import type { Schemas } from '../api/client'
import { count, duration, until } from '../format'
import { deliveryPath } from './paths'
import { said, text } from '../text'
import { Table } from './list'
import { Badge, type Tone } from './page'
import { Time } from './time'

const t = text.deliveries

const tones: Record<string, Tone> = { delivered: 'good', retrying: 'warn', parked: 'wait', dead: 'bad' }
export const toneOf = (state: string): Tone => tones[state] ?? 'calm'

export function StateBadge({ state }: { state: string }) {
  return <Badge tone={toneOf(state)}>{text.states[state] ?? state}</Badge>
}

// The states in the order of how much they ask of a person.
const order = ['dead', 'retrying', 'parked', 'queued', 'delivered', 'discarded', 'cancelled'] as const

/** How many endpoints have an event, by state. */
export function StateCounts({ of }: { of: Schemas['StateCounts'] }) {
  const some = order.flatMap((state) => (of[state] ? [{ state, n: of[state] }] : []))
  if (some.length === 0) return <span className="soft">–</span>
  const one = some.length === 1 && some[0]?.n === 1
  return (
    <span className="row tight">
      {some.map(({ state, n }) => (
        <Badge key={state} tone={toneOf(state)}>
          {one ? text.states[state] : `${count(n)} ${text.states[state]}`}
        </Badge>
      ))}
    </span>
  )
}

/** What an endpoint answered, in a few words. */
export function outcome(o: { class: string; status?: number }): string {
  return o.status ? `${o.status} ${text.classes[o.class] ?? o.class}` : (text.classes[o.class] ?? o.class)
}

export function EndpointName({ tenant, id }: { tenant: string; id: string }) {
  const known = useNamed(tenant, id).data
  return (
    <Link className="strong" to="/t/$tenant/endpoints/$endpoint" params={{ tenant, endpoint: id }}>
      {known ? nameOf(known) : <code>{id}</code>}
    </Link>
  )
}

export function LastAnswer({ of: last }: { of?: Schemas['Outcome'] }) {
  if (!last) return <span className="soft">–</span>
  return (
    <span className={`answer ${last.class === 'delivered' ? '' : 'bad'}`} title={last.error && said(last.error)}>
      {outcome(last)} <span className="soft number">{duration(last.duration)}</span>
    </span>
  )
}

type TableProps = {
  tenant: string
  deliveries: Delivery[]
  /** Shows the endpoints. */
  endpoint?: boolean
}

export function DeliveryTable({ tenant, deliveries, endpoint }: TableProps) {
  return (
    <Table compact columns={[t.event, t.state, ...(endpoint ? [t.endpoint] : []), t.last, { name: t.attempts, look: 'end' }, t.next, t.created]}>
      {deliveries.map((d) => (
        <tr key={d.id}>
          <td>
            <Link className="strong" to={deliveryPath(tenant, d.id)}>
              {d.event_type}
            </Link>
            {d.generation > 1 && <span className="soft small"> {text.event.generation(d.generation)}</span>}
          </td>
          <td className="standing" data-label={t.state}>
            <StateBadge state={d.state} />
            {d.reason && <div className="soft small">{text.reasons[d.reason]}</div>}
          </td>
          {endpoint && (
            <td data-label={t.endpoint}>
              <div className="clip">
                <EndpointName tenant={tenant} id={d.endpoint_id} />
              </div>
            </td>
          )}
          <td className={d.last ? '' : 'blank'} data-label={t.last}>
            <LastAnswer of={d.last} />
          </td>
          <td className="end labelled" data-label={t.attempts}>
            {count(d.attempts)}
          </td>
          <td className={d.next_attempt_at ? 'labelled' : d.gives_up_at || d.next_probe_at ? '' : 'blank'} data-label={t.next}>
            <div>
              {d.next_attempt_at ? (
                <Time at={d.next_attempt_at} />
              ) : d.next_probe_at ? (
                <>
                  {text.endpoint.probe}: <Time at={d.next_probe_at} />
                </>
              ) : (
                !d.gives_up_at && <span className="soft">–</span>
              )}
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
