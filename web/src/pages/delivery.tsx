import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronDown, ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { api, ask, type Schemas } from '../api/client'
import type { Delivery } from '../api/reads'
import { duration, goDuration, moment } from '../format'
import { isPortal, may } from '../session'
import { said, text } from '../text'
import { By } from '../ui/by'
import { Button, CopyButton, Id } from '../ui/controls'
import { curlOf, requestText } from '../ui/curl'
import { EndpointName, outcome, StateBadge, toneOf } from '../ui/delivery'
import { Confirm } from '../ui/dialog'
import { Badge, type Tone } from '../ui/page'
import { deliveryPath } from '../ui/paths'
import { Data } from '../ui/states'
import { Since, Time } from '../ui/time'
import { tell } from '../ui/toast'
import { Proof } from './proof'

const t = text.event
const waiting = ['queued', 'retrying', 'parked']

type CardProps = { tenant: string; delivery: Delivery; open: boolean; onOpen: () => void }

/** One delivery of an event: its state, what can be done about it, and the timeline. */
export function DeliveryCard({ tenant, delivery: d, open, onOpen }: CardProps) {
  return (
    <section className="card" aria-label={d.id}>
      <header>
        <span className="row">
          <Button look="quiet" className="icon tiny" aria-expanded={open} aria-label={t.show} onClick={onOpen}>
            {open ? <ChevronDown size={14} /> : <ChevronRight size={14} />}
          </Button>
          <EndpointName tenant={tenant} id={d.endpoint_id} />
          {d.generation > 1 && <span className="soft small">{t.generation(d.generation)}</span>}
          {d.replayed_as && d.state !== 'delivered' ? <Badge tone="calm">{t.replayedBy}</Badge> : <StateBadge state={d.state} />}
        </span>
        <DeliveryActions tenant={tenant} delivery={d} />
      </header>
      {open && (
        <div className="body">
          <Timeline tenant={tenant} delivery={d} />
        </div>
      )}
    </section>
  )
}

export function DeliveryActions({ tenant, delivery: d }: { tenant: string; delivery: Delivery }) {
  const cache = useQueryClient()
  const params = { path: { tenant, delivery: d.id } }
  const act = (done: string, run: () => Promise<unknown>) => async () => {
    await run()
    tell(done)
    await cache.invalidateQueries({ queryKey: [tenant] })
  }
  const unsettled = waiting.includes(d.state)
  const c = text.deliveries
  if (!may('replay')) return null
  return (
    <span className="row">
      {unsettled && (
        <Confirm
          trigger={<Button tiny>{c.cancel}</Button>}
          title={c.cancelTitle}
          action={c.cancel}
          danger
          run={act(c.cancelled, () => ask(api().POST('/v1/tenants/{tenant}/deliveries/{delivery}/cancel', { params, body: {} })))}
        >
          {c.cancelText}
        </Confirm>
      )}
      {d.state === 'dead' && !d.replayed_as && (
        <Confirm
          trigger={<Button tiny>{c.discard}</Button>}
          title={c.discardTitle}
          action={c.discard}
          danger
          run={act(c.discarded, () => ask(api().POST('/v1/tenants/{tenant}/deliveries/{delivery}/discard', { params, body: { note: c.whyDefault } })))}
        >
          {c.discardText}
        </Confirm>
      )}
      {!d.replayed_as && (
        <Confirm
          trigger={<Button tiny>{c.replay}</Button>}
          title={c.replayTitle}
          action={c.replay}
          run={act(c.replayed, () => ask(api().POST('/v1/tenants/{tenant}/deliveries/{delivery}/replay', { params, body: { force: unsettled } })))}
        >
          {unsettled ? c.force : c.replayText}
        </Confirm>
      )}
    </span>
  )
}

function Timeline({ tenant, delivery }: { tenant: string; delivery: Delivery }) {
  const read = useQuery({
    queryKey: [tenant, 'delivery', delivery.id, delivery.updated_at],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/deliveries/{delivery}', { params: { path: { tenant, delivery: delivery.id } } })),
  })
  return (
    <Data of={read}>
      {(d) => (
        <div className="stack">
          <ol className="timeline">
            <Item tone="calm" at={d.created_at} title={t.acceptedItem} note={!isPortal && d.generation > 1 && !d.replayed_as && d.by && !byHand.has(d.state) && <Hand of={d.by} />} />
            {d.history.map((a) => (
              <AttemptItem key={a.number} of={a}>
                <Sent tenant={tenant} event={d.event_id} of={a} />
              </AttemptItem>
            ))}
            {d.ordering && <InOrder tenant={tenant} of={d.ordering} />}
            <Now tenant={tenant} of={d} />
            {d.planned_at.slice(0, d.planned_at.length > 2 ? 1 : 2).map((at, i) => (
              <Item key={at} tone="calm" planned at={at} title={t.planned} note={i === 0 ? whyThen(d, at) : t.plannedIf} />
            ))}
            {d.planned_at.length > 2 && <Item tone="calm" planned at={d.planned_at.at(-1)} title={t.plannedMore(d.planned_at.length - 1)} note={t.plannedLast} />}
            {d.gives_up_at && <Item tone="wait" planned at={d.gives_up_at} title={t.givesUp} />}
          </ol>
          <div className="soft small">
            <Id value={d.id} />
          </div>
        </div>
      )}
    </Data>
  )
}

type ItemProps = { tone: Tone; at?: string; title: ReactNode; note?: ReactNode; planned?: boolean; children?: ReactNode }

function Item({ tone, at, title, note, planned, children }: ItemProps) {
  return (
    <li className={`${tone} ${planned ? 'planned' : ''}`}>
      <div className="line">
        <h3>{title}</h3>
        {note && <span className="soft">{note}</span>}
        {at && (
          <span className="soft small">
            {moment(at)} (<Time at={at} />)
          </span>
        )}
      </div>
      {children}
    </li>
  )
}

function AttemptItem({ of: a, children }: { of: Schemas['Attempt']; children?: ReactNode }) {
  const ok = a.class === 'delivered'
  const trigger = t.triggers[a.trigger]
  return (
    <Item
      tone={ok ? 'good' : 'bad'}
      at={a.started_at}
      title={`${t.attempt(a.number)}: ${outcome(a)}`}
      note={
        <>
          {trigger && `${trigger}, `}
          {duration(a.duration)}
        </>
      }
    >
      {a.error && <p className="break">{said(a.error)}</p>}
      {a.phases && <Phases of={a.phases} total={a.duration} />}
      {a.url && (
        <p className="soft small break">
          {t.redirected} <code>{a.url}</code>
        </p>
      )}
      {a.response_headers && (
        <p className="soft small break">
          {Object.entries(a.response_headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join(' · ')}
        </p>
      )}
      {a.body && <Answer body={a.body} />}
      {a.shape && <p className="soft small">{a.shape.startsWith('cel-') ? t.transformed(a.shape) : `${text.form.envelope}: ${(text.form.envelopes as Record<string, string>)[a.shape] ?? a.shape}`}</p>}
      {children}
    </Item>
  )
}

/** Where the time of an attempt went. */
function Phases({ of, total }: { of: Schemas['Phases']; total: string }) {
  const parts = (['dns', 'connect', 'tls', 'first_byte'] as const).flatMap((phase) => (of[phase] ? [{ phase, took: of[phase] }] : []))
  return (
    <div className="phases">
      <span className="strip" aria-hidden>
        {parts.map(({ phase, took }) => (
          <span key={phase} className={phase} style={{ flexGrow: goDuration(took) }} />
        ))}
        <span className="rest" style={{ flexGrow: Math.max(goDuration(total) - parts.reduce((sum, p) => sum + goDuration(p.took), 0), 0) }} />
      </span>
      <span className="soft small">{parts.map(({ phase, took }) => `${t.phases[phase]} ${duration(took)}`).join(' · ')}</span>
    </div>
  )
}

/** Why the next attempt comes when it comes. */
function whyThen(d: Schemas['DeliveryDetail'], at: string): string {
  const last = d.history.at(-1)
  if (!last?.retry_after) return t.nextNote
  const asked = new Date(last.started_at).getTime() + goDuration(last.retry_after)
  return asked <= new Date(at).getTime() && goDuration(last.retry_after) > 0 ? t.nextAsked(duration(last.retry_after)) : t.nextNote
}

type SentProps = { tenant: string; event: string; of: Schemas['Attempt'] }

/** The request of a failed attempt, whose body is made again from the event, and the proof of any attempt. */
function Sent({ tenant, event, of: a }: SentProps) {
  const [open, setOpen] = useState(false)
  const read = useQuery({
    enabled: open && !a.batch,
    queryKey: [tenant, 'sent', a.delivery_id],
    queryFn: () => ask(api().POST('/v1/tenants/{tenant}/endpoints/{endpoint}/preview', { params: { path: { tenant, endpoint: a.endpoint_id } }, body: { event_id: event } })),
  })
  const same = read.data?.shape === (a.shape ?? 'raw')
  const request = { method: 'POST', url: a.url ?? '', headers: a.request_headers ?? {}, body: same ? (read.data?.request.body ?? '') : '' }
  return (
    <>
      {open && (
        <>
          <pre className="code wrap" tabIndex={0} aria-label={t.request}>
            {requestText(request)}
          </pre>
          {same ? (
            <p>
              <span className="id">
                {t.curl} <CopyButton value={curlOf(request)} label="curl" />
              </span>
            </p>
          ) : (
            !read.isFetching && <p className="soft small">{a.batch ? t.bodyOfBatch : t.bodyGone}</p>
          )}
        </>
      )}
      <div className="row">
        {a.request_headers && (
          <Button tiny aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? t.hideRequest : t.request}
          </Button>
        )}
        <Proof tenant={tenant} event={event} of={a} />
      </div>
    </>
  )
}

function Answer({ body }: { body: string }) {
  const [all, setAll] = useState(false)
  const long = body.length > 300
  return (
    <>
      <pre className="code wrap" tabIndex={0} aria-label={t.answer}>
        {long && !all ? `${body.slice(0, 300)}…` : body}
      </pre>
      {long && !all && (
        <div>
          <Button tiny onClick={() => setAll(true)}>
            {t.answer}
          </Button>
        </div>
      )}
    </>
  )
}

// The states that a person ends a delivery in. In others, by is who asked for the replay.
const byHand = new Set(['discarded', 'cancelled'])

/** Who acted; nothing for customers. */
function Hand({ of }: { of?: string }) {
  if (!of || isPortal) return null
  return (
    <>
      {t.by} <By id={of} />
    </>
  )
}

/** The place of the delivery among those with its ordering key, and for which one it waits. */
function InOrder({ tenant, of: o }: { tenant: string; of: Schemas['DeliveryOrdering'] }) {
  const head = o.waits_for
  return (
    <Item tone={head ? (head.state === 'dead' ? 'bad' : 'wait') : 'calm'} title={t.order.place(o.number, o.key)} note={o.behind ? t.order.behind(o.behind) : undefined}>
      {head && (
        <p>
          {t.order.waits} {head.delivery_id ? <Link to={deliveryPath(tenant, head.delivery_id)}>{t.order.number(head.number)}</Link> : t.order.number(head.number)}: {(text.states[head.state] ?? head.state).toLowerCase()},{' '}
          {text.endpoints.since} <Since at={head.since} />. {head.state === 'dead' && t.order.todo}
        </p>
      )}
    </Item>
  )
}

/** Where the delivery stands now, and why. */
function Now({ tenant, of: d }: { tenant: string; of: Schemas['DeliveryDetail'] }) {
  const settled = d.state === 'delivered' && !d.replayed_as
  return (
    <>
      {!settled && d.state !== 'queued' && d.state !== 'retrying' && (
        <Item tone={toneOf(d.state)} at={d.updated_at} title={text.states[d.state]} note={d.reason && text.reasons[d.reason]}>
          {d.state === 'dead' && !d.replayed_as && may('replay') && <p>{t.fix}</p>}
          {(d.note || (d.by && byHand.has(d.state))) && (
            <p className="soft">
              {d.note} {!d.replayed_as && byHand.has(d.state) && <Hand of={d.by} />}
            </p>
          )}
        </Item>
      )}
      {d.state === 'retrying' && d.reason && <Item tone="wait" at={d.next_attempt_at} title={text.states.retrying} note={text.reasons[d.reason]} />}
      {d.replayed_as && (
        <Item
          tone="calm"
          at={d.replayed_at}
          title={t.replayedBy}
          note={
            <>
              <Hand of={d.by} /> <Link to={deliveryPath(tenant, d.replayed_as)}>{t.openNext}</Link>
            </>
          }
        />
      )}
    </>
  )
}
