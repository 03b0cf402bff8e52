import type { Endpoint } from '../api/reads'
import { isPortal } from '../session'
import { text } from '../text'
import { Badge, type Tone } from './page'

const tones: Record<string, Tone> = { active: 'good', paused: 'wait', disabled: 'bad' }

export function EndpointStatus({ of: e }: { of: Pick<Endpoint, 'status' | 'reason'> }) {
  return (
    <>
      <Badge tone={tones[e.status] ?? 'calm'}>{text.endpoints.statuses[e.status] ?? e.status}</Badge>
      {e.reason && <span className="soft small"> {e.reason}</span>}
    </>
  )
}

const circuitTones: Record<string, Tone> = { closed: 'good', open: 'bad', half_open: 'warn' }

/** The state of the circuit; for a customer, whether the endpoint keeps failing. */
export function CircuitBadge({ state }: { state: string }) {
  if (isPortal) return state === 'closed' ? null : <Badge tone="bad">{text.endpoint.circuits[state] ?? state}</Badge>
  return <Badge tone={circuitTones[state] ?? 'calm'}>{`${text.endpoint.circuit}: ${(text.endpoint.circuits[state] ?? state).toLowerCase()}`}</Badge>
}
