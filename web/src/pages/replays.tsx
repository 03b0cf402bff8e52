import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { useTenant } from '../api/reads'
import { count } from '../format'
import { backOff } from '../poll'
import { isPortal } from '../session'
import { text } from '../text'
import { By } from '../ui/by'
import { Button, Id } from '../ui/controls'
import { EndpointName } from '../ui/delivery'
import { Confirm } from '../ui/dialog'
import { List, Table } from '../ui/list'
import { Badge, Card, Facts, Page, Stat, type Tone } from '../ui/page'
import { Data } from '../ui/states'
import { Time } from '../ui/time'
import { tell } from '../ui/toast'
import { ReplayDialog, type Selection } from './replay-dialog'

const t = text.replays
const words = isPortal ? text.replay.portal : text.replay.console

type Job = Schemas['Replay']
type Progress = Schemas['ReplayProgress']

// Jobs per page. Few, because each row makes a request of its own for the results of its job.
const rows = 20

/** A job with the results of its deliveries. It is read often while the job runs or deliveries are in progress, and less often while the API fails. */
export function useReplay(tenant: string, replay: string) {
  return useQuery({
    queryKey: [tenant, 'replay', replay],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/replays/{replay}', { params: { path: { tenant, replay } } })),
    refetchInterval: (query) => {
      const { data, status } = query.state
      if (!data || status === 'error') return backOff(query)
      return data.state === 'running' ? 2_000 : data.in_progress > 0 ? 5_000 : false
    },
    staleTime: 2_000,
  })
}

/** The result of a job in a few words, or its state while it runs. */
function resultOf(r: Progress): [Tone, string] {
  if (r.state === 'running') return ['wait', t.states.running ?? '']
  if (r.state === 'cancelled') return r.in_progress > 0 ? ['wait', t.cancelledGoing(r.in_progress)] : ['calm', t.states.cancelled ?? '']
  const lost = r.dead + r.cancelled
  if (lost > 0) return ['bad', t.lost(lost)]
  if (r.in_progress > 0) return ['wait', t.waits(r.in_progress)]
  if (r.enqueued === 0) return ['calm', t.nothing]
  return r.action === 'discard' ? ['calm', t.discarded] : ['good', t.arrived]
}

function Result({ of }: { of: Progress }) {
  const [tone, word] = resultOf(of)
  return <Badge tone={tone}>{word}</Badge>
}

function Filter({ tenant, of: { filter: f } }: { tenant: string; of: Job }) {
  const states: Record<string, string> = words.states
  const parts = [f.state && (states[f.state] ?? f.state), f.event_types?.join(' '), f.status, f.class && (text.classes[f.class] ?? f.class)].filter(Boolean)
  return (
    <>
      {parts.join(', ')}
      {parts.length > 0 && ', '}
      {f.endpoint ? <EndpointName tenant={tenant} id={f.endpoint} /> : t.anyEndpoint}
    </>
  )
}

export function Replays() {
  const tenant = useTenant()
  const { cursor } = useSearch({ from: '/t/$tenant/replays' })
  const [selection, setSelection] = useState<Selection | null>(null)
  const list = useQuery({
    queryKey: [tenant, 'replays', cursor],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/replays', { params: { path: { tenant }, query: { cursor, limit: rows } } })),
  })
  return (
    <Page title={t.title} lead={t.lead} actions={<Button onClick={() => setSelection({})}>{t.start}</Button>}>
      <ReplayDialog tenant={tenant} selection={selection} close={() => setSelection(null)} />
      <List of={list} cursor={cursor} empty={{ title: t.empty, text: t.emptyText }}>
        {(data) => (
          <Table columns={[t.id, t.result, t.filter, ...[t.sent, t.delivered, words.deadAgain].map((name) => ({ name, look: 'end' as const })), ...[t.waiting, t.skipped].map((name) => ({ name, look: 'end wide' as const })), t.started]}>
            {data.map((job) => (
              <Row key={job.id} tenant={tenant} of={job} />
            ))}
          </Table>
        )}
      </List>
    </Page>
  )
}

function Row({ tenant, of: job }: { tenant: string; of: Job }) {
  const r = useReplay(tenant, job.id).data
  const number = (name: string, n: number | undefined, tone?: Tone, look = '') => (
    <td className={`end ${n && tone ? tone : ''} ${look}`} data-label={name}>
      {n === undefined ? '–' : count(n)}
    </td>
  )
  const sends = job.action === 'replay'
  return (
    <tr>
      <td>
        <div className="clip">
          <Link className="strong" to="/t/$tenant/replays/$replay" params={{ tenant, replay: job.id }}>
            <code>{job.id}</code>
          </Link>
        </div>
      </td>
      <td data-label={t.result}>{r ? <Result of={r} /> : <Badge tone="calm">{t.states[job.state]}</Badge>}</td>
      <td data-label={t.filter}>
        <span>
          <Filter tenant={tenant} of={job} />
        </span>
      </td>
      {number(t.sent, sends ? (r ?? job).enqueued : undefined)}
      {number(t.delivered, sends ? r?.delivered : undefined, 'good')}
      {number(words.deadAgain, sends ? r?.dead : undefined, 'bad')}
      {number(t.waiting, sends ? r?.in_progress : undefined, 'wait', 'wide')}
      {number(t.skipped, (r ?? job).skipped, undefined, 'wide')}
      <td data-label={t.started}>
        <Time at={job.created_at} />
      </td>
    </tr>
  )
}

export function ReplayPage() {
  const tenant = useTenant()
  const { replay: id } = useParams({ from: '/t/$tenant/replays/$replay' })
  const cache = useQueryClient()
  const params = { path: { tenant, replay: id } }
  const read = useReplay(tenant, id)
  const job = read.data
  return (
    <Page
      title={t.id}
      heading={
        <span className="row">
          {t.id} {job && <Result of={job} />}
        </span>
      }
      crumbs={[
        <Link to="/t/$tenant/replays" params={{ tenant }}>
          {t.title}
        </Link>,
        <Id value={id} />,
      ]}
      actions={
        job?.state === 'running' && (
          <Confirm
            trigger={<Button look="danger">{t.cancel}</Button>}
            title={t.cancelTitle}
            action={t.cancel}
            danger
            run={async () => {
              await ask(api().POST('/v1/tenants/{tenant}/replays/{replay}/cancel', { params }))
              tell(t.cancelled)
              await cache.invalidateQueries({ queryKey: [tenant] })
            }}
          >
            {t.cancelText}
          </Confirm>
        )
      }
    >
      <Data of={read}>{(r) => <Standing tenant={tenant} of={r} />}</Data>
    </Page>
  )
}

/** How many deliveries the job has: those it took, and while it runs what its dry run found, if that is more. */
function wholeOf(r: Progress): number {
  const taken = r.enqueued + r.skipped
  if (r.state !== 'running' || !r.expected) return taken
  return Math.max(taken, r.limit ? Math.min(r.expected, r.limit + r.skipped) : r.expected)
}

/** The results of the job's deliveries, as a bar and as numbers; for a job that discards, one number. */
export function Outcome({ of: r }: { of: Progress }) {
  if (r.action === 'discard') {
    return (
      <div className="stack">
        <p>
          <strong>{t.discardedOf(r.enqueued)}</strong>
        </p>
        <Skipped of={r} />
      </div>
    )
  }
  const whole = wholeOf(r)
  const rest = whole - r.enqueued - r.skipped
  const parts: [Tone, string, number][] = [
    ['good', t.delivered, r.delivered],
    ['bad', words.deadAgain, r.dead],
    ['calm', t.stopped, r.cancelled],
    ['wait', t.waiting, r.in_progress],
  ]
  const settled = r.enqueued - r.in_progress
  const unsure = r.state === 'running' && !r.expected
  return (
    <div className="stack">
      <div className="stack tight">
        <p className="soft number">{unsure ? t.settledSoFar(settled, r.enqueued) : t.settled(settled, whole - r.skipped)}</p>
        <div className="progress" role="img" aria-label={parts.map(([, name, n]) => `${name}: ${count(n)}`).join(', ')}>
          {parts.map(([tone, name, n]) => n > 0 && <span key={name} className={`part ${tone}`} style={{ flexGrow: n }} />)}
          {rest > 0 && <span className="part" style={{ flexGrow: rest }} />}
        </div>
      </div>
      <div className="stats">
        {parts.map(([tone, name, n]) => (n > 0 || tone !== 'calm') && <Stat key={name} name={name} value={count(n)} tone={n > 0 ? tone : undefined} />)}
        {rest > 0 && <Stat name={t.rest} value={count(rest)} />}
        <Stat name={t.skipped} value={count(r.skipped)} />
      </div>
      <Skipped of={r} />
    </div>
  )
}

/** How many deliveries the job skipped, by reason; nothing without any. */
function Skipped({ of: r }: { of: Job }) {
  if (r.skipped === 0) return null
  return (
    <div className="stack tight small">
      <h3>{t.why}</h3>
      <ul className="stack tight">
        {Object.entries(r.skipped_by_reason ?? {}).map(([why, n]) => (
          <li key={why}>
            <span className="number">{count(n)}</span> {t.skips[why] ?? why}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Standing({ tenant, of: r }: { tenant: string; of: Progress }) {
  return (
    <>
      <Card pad>
        <Outcome of={r} />
      </Card>
      <Card pad>
        <Facts
          of={[
            [t.state, t.states[r.state]],
            [t.filter, <Filter tenant={tenant} of={r} />],
            [text.replay.since, r.filter.since && <Time at={r.filter.since} />],
            [text.replay.until, r.filter.until && <Time at={r.filter.until} />],
            [words.diedSince, r.filter.died_since && <Time at={r.filter.died_since} />],
            [t.limit, r.limit && count(r.limit)],
            [t.rate, text.endpoint.perSecond(r.rate_per_second)],
            [t.started, <Time at={r.created_at} />],
            [t.ended, r.ended_at && <Time at={r.ended_at} />],
            [t.by, !isPortal && <By id={r.by} />],
          ]}
        />
      </Card>
    </>
  )
}
