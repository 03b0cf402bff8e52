import { Link } from '@tanstack/react-router'
import type { Schemas } from '../api/client'
import { text } from '../text'
import { EndpointName } from './delivery'
import { Badge, type Tone } from './page'
import { deliveryPath } from './paths'

const t = text.changes

export type Change = Schemas['Audit']

export const actionOf = (a: Pick<Change, 'action'>) => t.actions[a.action] ?? a.action

/** Who made the change. */
export const whoOf = (a: Change) => (a.actor === 'system' ? t.system : (a.key_name ?? a.key_id ?? ''))

const tones: Partial<Record<Change['outcome'], Tone>> = { refused: 'warn', failed: 'bad', pending: 'calm' }

/** The outcome of a change that was not simply done. */
export function Outcome({ of: { outcome, code } }: { of: Change }) {
  const tone = tones[outcome]
  if (!tone) return null
  return (
    <>
      <Badge tone={tone}>{t.outcomes[outcome]}</Badge>
      {code && <span className="soft small"> {code}</span>}
    </>
  )
}

/** A link to the changed record, by its name. */
export function Target({ tenant, of: id = '' }: { tenant: string; of?: string }) {
  const to = id.startsWith('evt_') ? `/t/${tenant}/events/${id}` : id.startsWith('dlv_') ? deliveryPath(tenant, id) : id.startsWith('rpl_') ? `/t/${tenant}/replays/${id}` : undefined
  if (id.startsWith('ep_')) return <EndpointName tenant={tenant} id={id} />
  return to ? (
    <Link to={to}>
      <code>{id}</code>
    </Link>
  ) : (
    <code>{id}</code>
  )
}

const shown = 3
const longest = 60 // characters of a value

// A new endpoint has all fields: those that tell it from others come first.
const first = ['url', 'uid', 'event_types', 'status']
const weight = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length)

const valueOf = (v: unknown) => (v === undefined ? '' : typeof v === 'string' ? v : JSON.stringify(v))
const short = (v: string) => (v.length > longest ? `${v.slice(0, longest)}…` : v)

/** The changed fields with their old and new values. */
export function Changed({ of: { changes = {} } }: { of: Change }) {
  const fields = Object.entries(changes).sort(([a], [b]) => weight(a) - weight(b))
  if (fields.length === 0) return <span className="soft">–</span>
  const list = fields.map(([name, { old, new: next }]) => (
    <li key={name} title={`${valueOf(old)} → ${valueOf(next)}`}>
      <span className="soft">{name}</span> {old !== undefined && <del>{short(valueOf(old)) || t.emptyValue}</del>} {old !== undefined && next !== undefined && '→'}{' '}
      {next !== undefined && <ins>{short(valueOf(next)) || t.emptyValue}</ins>}
    </li>
  ))
  return (
    <div className="changed">
      <ul>{list.slice(0, shown)}</ul>
      {list.length > shown && (
        <details>
          <summary>{t.more(list.length - shown)}</summary>
          <ul>{list.slice(shown)}</ul>
        </details>
      )}
    </div>
  )
}
