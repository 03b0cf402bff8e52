import { Progress } from '@base-ui/react/progress'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { api, ask, type Schemas } from '../api/client'
import { useTenant } from '../api/reads'
import { count } from '../format'
import { text } from '../text'
import { Button, Id } from '../ui/controls'
import { EndpointName } from '../ui/delivery'
import { Confirm } from '../ui/dialog'
import { List, Table } from '../ui/list'
import { Badge, Card, Facts, Page, Stat, type Tone } from '../ui/page'
import { Data } from '../ui/states'
import { Time } from '../ui/time'
import { tell } from '../ui/toast'

const t = text.replays
const tones: Record<string, Tone> = { running: 'wait', finished: 'good', cancelled: 'calm' }

function Filter({ tenant, of: job }: { tenant: string; of: Schemas['Replay'] }) {
  return (
    <>
      {text.states[job.filter.state ?? '']} {job.filter.event_types?.join(' ')} {job.filter.status} {job.filter.class && (text.classes[job.filter.class] ?? job.filter.class)}{' '}
      {job.filter.endpoint ? <EndpointName tenant={tenant} id={job.filter.endpoint} /> : t.anyEndpoint}
    </>
  )
}

export function Replays() {
  const tenant = useTenant()
  const { cursor } = useSearch({ from: '/t/$tenant/replays' })
  const list = useQuery({
    queryKey: [tenant, 'replays', cursor],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/replays', { params: { path: { tenant }, query: { cursor } } })),
  })
  return (
    <Page title={t.title} lead={t.lead}>
      <List of={list} cursor={cursor} empty={{ title: t.empty, text: t.emptyText }}>
        {(data) => (
          <Table columns={[t.id, t.state, t.filter, { name: t.enqueued, end: true }, t.started]}>
            {data.map((job) => (
              <tr key={job.id}>
                <td>
                  <Link className="strong" to="/t/$tenant/replays/$replay" params={{ tenant, replay: job.id }}>
                    <code>{job.id}</code>
                  </Link>
                </td>
                <td data-label={t.state}>
                  <Badge tone={tones[job.state] ?? 'calm'}>{t.states[job.state]}</Badge>
                </td>
                <td data-label={t.filter}>
                  <Filter tenant={tenant} of={job} />
                </td>
                <td className="end" data-label={t.enqueued}>
                  {count(job.enqueued)}
                </td>
                <td data-label={t.started}>
                  <Time at={job.created_at} />
                </td>
              </tr>
            ))}
          </Table>
        )}
      </List>
    </Page>
  )
}

export function ReplayPage() {
  const tenant = useTenant()
  const { replay: id } = useParams({ from: '/t/$tenant/replays/$replay' })
  const cache = useQueryClient()
  const params = { path: { tenant, replay: id } }
  const read = useQuery({
    queryKey: [tenant, 'replay', id],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/replays/{replay}', { params })),
    // A job under way is watched closely.
    refetchInterval: (query) => (!query.state.data || query.state.data.state === 'running' || query.state.data.in_progress > 0 ? 2_000 : false),
  })
  const job = read.data
  return (
    <Page
      title={t.id}
      heading={
        <span className="row">
          {t.id} {job && <Badge tone={tones[job.state] ?? 'calm'}>{t.states[job.state]}</Badge>}
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

function Standing({ tenant, of: r }: { tenant: string; of: Schemas['ReplayProgress'] }) {
  const settled = r.delivered + r.dead + r.cancelled
  return (
    <>
      <Card pad>
        <Progress.Root value={r.enqueued === 0 ? (r.state === 'running' ? null : 100) : (settled / r.enqueued) * 100} className="stack tight">
          <div className="row">
            <Progress.Label>{t.progress}</Progress.Label>
            <span className="soft number">{t.settled(settled, r.enqueued)}</span>
          </div>
          <Progress.Track className="progress">
            <Progress.Indicator className="bar" />
          </Progress.Track>
        </Progress.Root>
      </Card>
      <div className="stats">
        <Stat name={t.selected} value={count(r.selected)} />
        <Stat name={t.enqueued} value={count(r.enqueued)} />
        <Stat name={t.skipped} value={count(r.skipped)} />
        <Stat name={t.inProgress} value={count(r.in_progress)} tone={r.in_progress ? 'wait' : undefined} />
        <Stat name={text.states.delivered ?? ''} value={count(r.delivered)} tone={r.delivered ? 'good' : undefined} />
        <Stat name={text.states.dead ?? ''} value={count(r.dead)} tone={r.dead ? 'bad' : undefined} />
      </div>
      <Card pad>
        <Facts
          of={[
            [t.filter, <Filter tenant={tenant} of={r} />],
            [t.rate, text.endpoint.perSecond(r.rate_per_second)],
            [t.started, <Time at={r.created_at} />],
            [t.ended, r.ended_at && <Time at={r.ended_at} />],
            [t.by, <code>{r.by}</code>],
          ]}
        />
      </Card>
    </>
  )
}
