import { type Condition, type Endpoint, useEndpointHealth } from '../api/reads'
import { isPortal } from '../session'
import { text } from '../text'
import { outcome } from './delivery'
import { Badge, type Tone } from './page'
import { Since } from './time'

// No status is good by itself: an active endpoint with a closed circuit may still be failing. See conditionTones.
const tones: Record<string, Tone> = { disabled: 'bad' }

export function EndpointStatus({ of: e }: { of: Pick<Endpoint, 'status' | 'reason'> }) {
  return (
    <>
      <Badge tone={tones[e.status] ?? 'calm'}>{text.endpoints.statuses[e.status] ?? e.status}</Badge>
      {e.reason && <span className="soft small"> {text.endpoints.reasons[e.reason] ?? e.reason}</span>}
    </>
  )
}

const circuitTones: Record<string, Tone> = { open: 'bad', half_open: 'warn' }

/** The state of the circuit, for operators: the condition says it to a customer. */
export function CircuitBadge({ state }: { state: string }) {
  if (isPortal) return null
  return <Badge tone={circuitTones[state] ?? 'calm'}>{`${text.endpoint.circuit}: ${(text.endpoint.circuits[state] ?? state).toLowerCase()}`}</Badge>
}

/** The tones of conditions. Paused and quiet are neutral: nothing is wrong. */
export const conditionTones: Record<Condition['state'], Tone> = { failing: 'bad', disabled: 'bad', degraded: 'warn', paused: 'calm', healthy: 'good', quiet: 'calm' }

export function ConditionBadge({ of: c }: { of: Condition }) {
  return <Badge tone={conditionTones[c.state]}>{text.conditions[c.state]}</Badge>
}

/** Why the endpoint is in the condition, and since when, as far as the condition says so. */
export function ConditionDetail({ of: c }: { of: Condition }) {
  const why = c.class ? outcome({ class: c.class, status: c.status }) : c.reason && text.endpoints.reasons[c.reason]
  return (
    <>
      {why}
      {c.since && (
        <>
          {why && ', '}
          {text.endpoints.since} <Since at={c.since} />
        </>
      )}
    </>
  )
}

// The cause of dead letters whose advice helps against failures of the class, too. Other classes are retried, and have advice of their own.
const causes: Record<string, string> = {
  refused: 'refused', tls: 'tls', redirect: 'redirect', blocked: 'blocked', gone: 'gone', transformation: 'transformation', throttled: 'throttled', token: 'credentials',
}

/** What a customer does about the condition; nothing if only they know. */
export function Todo({ of: { state, class: outcome, status } }: { of: Condition }) {
  const cause = outcome === 'refused' && (status === 401 || status === 403) ? 'token' : outcome
  const advice = text.endpoints.todo[cause ?? state] ?? (cause && text.dead.suggestions[causes[cause] ?? ''])
  return advice ? <span className="todo">{advice}</span> : null
}

/** The condition of an active endpoint; nothing for another, whose status says enough. */
export function ActiveCondition({ tenant, of: e }: { tenant: string; of: Pick<Endpoint, 'id' | 'status'> }) {
  const health = useEndpointHealth(tenant, e.id)
  return e.status === 'active' && health.data?.endpoint_id === e.id && <ConditionBadge of={health.data.condition} />
}
