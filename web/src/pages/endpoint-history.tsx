import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { moment } from '../format'
import { isPortal, may } from '../session'
import { text } from '../text'
import { actionOf, type Change, Changed, Outcome, whoOf } from '../ui/change'
import { Card, type Tone } from '../ui/page'
import { deliveryPath } from '../ui/paths'
import { Data, Empty } from '../ui/states'
import { Time } from '../ui/time'

const t = text.endpoint
const limit = 100

type Decision = Schemas['Decision']
type Entry = { at: string } & ({ change: Change } | { decision: Decision })

function nameOf(type: string): string {
  const short = type.replace(/^webhook\./, '')
  return t.decisions[short] ?? short
}

/**
 * What happened to the endpoint, newest first: Surehook's decisions, and for those who may read them the changes. Where one
 * of the lists has more, the history ends, so that nothing is missing between two entries.
 */
export function EndpointHistory({ tenant, endpoint }: { tenant: string; endpoint: string }) {
  const read = useQuery({
    queryKey: [tenant, 'history', endpoint],
    queryFn: async () => {
      const [decisions, changes] = await Promise.all([
        ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/decisions', { params: { path: { tenant, endpoint }, query: { limit } } })),
        may('audit') ? ask(api().GET('/v1/tenants/{tenant}/audit', { params: { path: { tenant }, query: { target: endpoint, limit } } })) : undefined,
      ])
      const ends = [decisions, changes].flatMap((list) => (list?.next_cursor ? [list.data.at(-1)?.at ?? ''] : []))
      const since = ends.sort().at(-1) ?? ''
      const entries: Entry[] = [...decisions.data.map((decision) => ({ at: decision.at, decision })), ...(changes?.data ?? []).map((change) => ({ at: change.at, change }))]
      return { more: !!changes?.next_cursor, entries: entries.filter((e) => e.at >= since).sort((a, b) => b.at.localeCompare(a.at)) }
    },
  })
  return (
    <Card
      pad
      foot={
        read.data?.more && (
          <Link className="button tiny" to="/t/$tenant/changes" params={{ tenant }} search={{ target: endpoint }}>
            {t.allChanges}
          </Link>
        )
      }
    >
      <Data of={read}>
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title={t.historyEmpty}>
              <p>{t.historyEmptyText}</p>
            </Empty>
          ) : (
            <ol className="timeline">
              {entries.map((e, i) =>
                'change' in e ? <ChangeItem key={e.change.id} of={e.change} /> : <DecisionItem key={e.at + e.decision.event_type + i} tenant={tenant} of={e.decision} />,
              )}
            </ol>
          )
        }
      </Data>
    </Card>
  )
}

function Item({ tone, at, title, who, children }: { tone: Tone; at: string; title: ReactNode; who?: string; children: ReactNode }) {
  return (
    <li className={tone}>
      <div className="line">
        <h3>{title}</h3>
        {who && <span className="soft">{who}</span>}
        <span className="soft small">
          {moment(at)} (<Time at={at} />)
        </span>
      </div>
      {children}
    </li>
  )
}

function ChangeItem({ of: a }: { of: Change }) {
  return (
    <Item tone="calm" at={a.at} title={actionOf(a)} who={[whoOf(a), a.source_ip].filter(Boolean).join(', ')}>
      <Outcome of={a} />
      {a.changes && <Changed of={a} />}
    </Item>
  )
}

function DecisionItem({ tenant, of: d }: { tenant: string; of: Decision }) {
  return (
    <Item tone={/recovered|closed/.test(d.event_type) ? 'good' : /slow/.test(d.event_type) ? 'warn' : 'bad'} at={d.at} title={nameOf(d.event_type)}>
      <p className="break">
        {!isPortal && d.reason} {d.delivery_id && <Link to={deliveryPath(tenant, d.delivery_id)}>{text.deliveries.id}</Link>}
      </p>
    </Item>
  )
}
