import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { AlertTriangle, CircleCheck, CircleX, Clock, PauseCircle, Unplug } from 'lucide-react'
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { nameOf, usePipelineStats } from '../api/reads'
import { compact, count, duration, goDuration, span, until } from '../format'
import { hoursByTenant, hourLong, type Part, parts } from '../hours'
import { isPortal } from '../session'
import { text } from '../text'
import { ActivityChart } from '../ui/activity'
import { Button } from '../ui/controls'
import { ConditionDetail, conditionTones, Todo } from '../ui/endpoint'
import { useFilter } from '../ui/filters'
import { LatencyChart } from '../ui/latency'
import { Card, Page, Stat } from '../ui/page'
import { deliveryPath } from '../ui/paths'
import { Data, Empty } from '../ui/states'
import { Time } from '../ui/time'
import { WaitingCard } from '../ui/waiting'
import { OrderChoice, ordered, TenantTable } from './tenant-table'

type Health = Schemas['Health']
type StatsRow = Schemas['StatsRow']

const mostTenants = 10
const t = text.overview

/** Reads: the health as it changes, and once a minute the statistics by the hour, by tenant, and by both. */
export function Overview() {
  const health = useQuery({ queryKey: ['health'], queryFn: () => ask(api().GET('/v1/health')) })
  const hourly = usePipelineStats({ by: 'hour' })
  const tenants = usePipelineStats({ group: 'tenant' })
  return (
    <Page title={t.title}>
      <Data of={health}>
        {(h) => (
          <>
            <Verdict of={h} />
            <Needs of={h} tenants={tenants.data?.data ?? []} />
            <ActivityChart of={hourly} span={text.activity.today} link={hourPath} note={text.activity.byTenant} />
            <WaitingCard of={{ queued: h.queued, retrying: h.retrying, reasons: h.parked_by_reason }} counted={h} />
            <Figures of={h} />
            <Tenants of={tenants} />
            <LatencyChart of={hourly.data} />
            <Queues of={h} />
          </>
        )}
      </Data>
    </Page>
  )
}

// There is no list of the deliveries of all tenants, so an hour leads to its tenants. All hours lead to all tenants.
const hourPath = (part: Part, from: number, until: number) =>
  until - from > hourLong ? `/?part=${part}` : `/?${new URLSearchParams({ part, hour: new Date(from).toISOString() })}`

/** Whether anything is wrong, in one sentence. */
function Verdict({ of: h }: { of: Health }) {
  const failing = h.attention.filter((a) => a.condition.state === 'failing' || a.condition.state === 'degraded')
  const number = (of: Health['attention']) => of.reduce((sum, a) => sum + a.endpoints, 0)
  const endpoints = number(failing)
  const stopped = number(h.attention.filter((a) => a.condition.state === 'disabled' || a.condition.state === 'paused'))
  const waiting = h.retrying + h.parked
  const facts = [
    endpoints > 0 ? t.fail(endpoints, new Set(failing.map((a) => a.tenant)).size) : t.noneFails,
    stopped > 0 && text.tenant.stopped(stopped),
    waiting > 0 && t.waits(waiting, h.oldest_pending && duration(h.oldest_pending.age)),
    h.dead > 0 && t.lost(h.dead),
  ].filter(Boolean)
  return (
    <p className="verdict">
      {facts.join('; ')}
      {h.first_loss_at && (
        <>
          {'; '}
          <strong>
            {t.atRisk(h.at_risk)} {until(h.first_loss_at)}
          </strong>
        </>
      )}
      {'.'}
    </p>
  )
}

type TenantCount = Schemas['TenantCount']

/** The first five of the tenants, with a link each. */
function TenantLinks({ of, page }: { of: TenantCount[]; page: '' | '/dead-letters' }) {
  return of.slice(0, 5).map((r, i) => (
    <Fragment key={r.tenant}>
      {i > 0 && ', '}
      <Link to={`/t/$tenant${page}`} params={{ tenant: r.tenant }}>
        {r.tenant} ({count(r.count)})
      </Link>
    </Fragment>
  ))
}

/** The tenants with the most deaths in the last 24 hours. */
function DiedAt({ tenants }: { tenants: StatsRow[] }) {
  const died = tenants.flatMap((r) => (r.tenant && r.dead > 0 ? [{ tenant: r.tenant, count: r.dead }] : [])).sort((a, b) => b.count - a.count)
  if (died.length === 0) return t.byTenant
  return (
    <>
      {t.died24} <TenantLinks of={died} page="/dead-letters" />
    </>
  )
}

function Needs({ of: h, tenants }: { of: Health; tenants: StatsRow[] }) {
  const items: ReactNode[] = []
  const only = tenants.length === 1 ? tenants[0]?.tenant : undefined
  const undeliverable = h.queues.undeliverable.visible + h.queues.undeliverable.in_flight
  if (undeliverable > 0) {
    items.push(<Need key="u" icon={<AlertTriangle size={17} className="bad" />} title={t.needUndeliverable(undeliverable)} detail={t.needUndeliverableText} />)
  }
  const rejects = h.queues.rejects.visible + h.queues.rejects.in_flight
  if (rejects > 0) {
    items.push(<Need key="r" icon={<AlertTriangle size={17} className="bad" />} title={t.needRejects(rejects)} detail={t.needRejectsText} to="/rejects" />)
  }
  for (const a of h.attention) items.push(<AttentionNeed key={[a.tenant, a.condition.state, a.condition.class, a.condition.reason].join()} of={a} />)
  if (h.dead > h.attention.reduce((sum, e) => sum + e.dead, 0)) {
    items.push(
      <Need
        key="d"
        icon={<CircleX size={17} className="bad" />}
        title={t.needDead(h.dead, !h.complete)}
        detail={
          <>
            {t.needDeadText} <DiedAt tenants={tenants} />
          </>
        }
        to={only ? `/t/${only}/dead-letters` : '/tenants'}
      />,
    )
  }
  if (h.open_circuits > 0) {
    const [first, second] = h.open_circuits_by_tenant
    items.push(
      <Need
        key="c"
        icon={<Unplug size={17} className="wait" />}
        title={t.needCircuits(h.open_circuits)}
        detail={
          <>
            {t.needCircuitsText} <TenantLinks of={h.open_circuits_by_tenant} page="" />
          </>
        }
        to={first && !second ? `/t/${first.tenant}` : '/tenants'}
      />,
    )
  }
  const oldest = h.oldest_pending
  if (oldest && goDuration(oldest.age) > 3_600_000) {
    items.push(
      <Need
        key="o"
        icon={<Clock size={17} className="warn" />}
        title={t.needOldest}
        detail={
          <>
            {text.states[oldest.state]}, {oldest.tenant}, <Time at={oldest.created_at} />
          </>
        }
        to={deliveryPath(oldest.tenant, oldest.delivery_id)}
      />,
    )
  }
  return (
    <Card title={t.needs}>
      {items.length > 0 ? (
        <ul className="needs">{items}</ul>
      ) : (
        <div className="needs">
          <Calm />
        </div>
      )}
    </Card>
  )
}

const needIcons: Record<string, typeof CircleX> = { failing: AlertTriangle, degraded: AlertTriangle, disabled: PauseCircle, paused: PauseCircle }

function ConditionIcon({ state }: { state: Schemas['Condition']['state'] }) {
  const Icon = needIcons[state] ?? CircleX
  return <Icon size={17} className={needIcons[state] ? conditionTones[state] : 'bad'} />
}

/** The endpoints of a tenant that need attention for one cause; several are opened to a list, ten first. */
function AttentionNeed({ of: a }: { of: Schemas['Attention'] }) {
  const [all, setAll] = useState(false)
  const [worst] = a.worst
  if (worst && a.endpoints === 1) return <EndpointNeed tenant={a.tenant} of={worst} waiting={a.waiting} risk={a} named />
  const state = a.condition.state
  return (
    <Need
      icon={<ConditionIcon state={state} />}
      title={text.endpoints.groupNeeds[state]?.(a.endpoints, a.tenant) ?? text.endpoints.needDead(a.dead, a.tenant)}
      detail={
        <>
          <Facts of={[a.condition.since && <ConditionDetail of={a.condition} />, a.dead > 0 && text.endpoints.dead(a.dead), ...harm(a.waiting, a)]} />
          <details>
            <summary>{text.endpoints.which}</summary>
            <ul>
              {all ? <Needing tenant={a.tenant} cursor={a.cursor} /> : <NeedingRows tenant={a.tenant} of={a.worst} />}
              {a.cursor && !all && <MoreButton name={text.endpoints.showAll(a.endpoints)} onClick={() => setAll(true)} />}
            </ul>
          </details>
        </>
      }
      to={`/t/${a.tenant}`}
    />
  )
}

/** A page of the endpoints that need attention, and those after it as they are asked for. */
function Needing({ tenant, cursor }: { tenant: string; cursor?: string }) {
  const [more, setMore] = useState(false)
  const page = useQuery({
    queryKey: [tenant, 'attention', cursor],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/attention', { params: { path: { tenant }, query: { cursor } } })),
    refetchInterval: false,
  })
  const next = page.data?.next_cursor
  return (
    <Data of={page}>
      {({ data }) => (
        <>
          <NeedingRows tenant={tenant} of={data} />
          {next && (more || data.length === 0 ? <Needing tenant={tenant} cursor={next} /> : <MoreButton name={text.more} onClick={() => setMore(true)} />)}
        </>
      )}
    </Data>
  )
}

function MoreButton({ name, onClick }: { name: string; onClick: () => void }) {
  return (
    <li>
      <Button tiny onClick={onClick}>
        {name}
      </Button>
    </li>
  )
}

function NeedingRows({ tenant, of }: { tenant: string; of: Schemas['AttentionEndpoint'][] }) {
  return of.map((e) => (
    <li key={e.endpoint_id}>
      <Link to="/t/$tenant/endpoints/$endpoint" params={{ tenant, endpoint: e.endpoint_id }}>
        {nameOf(e)}
      </Link>{' '}
      <Facts of={[e.condition.since && <ConditionDetail of={e.condition} />, e.dead > 0 && text.endpoints.dead(e.dead), ...harm(e.waiting, e)]} />
    </li>
  ))
}

type Risk = { at_risk?: number; first_loss_at?: string }

/** What waits, and what of it is lost if nothing changes. */
const harm = (waiting: number, risk?: Risk): ReactNode[] => [
  waiting > 0 && text.endpoints.waiting(waiting),
  risk?.first_loss_at && (
    <>
      {text.endpoints.atRisk(risk.at_risk ?? 0)} {until(risk.first_loss_at)}
    </>
  ),
]

function Facts({ of }: { of: ReactNode[] }) {
  return of.filter(Boolean).map((fact, i) => (
    <Fragment key={i}>
      {i > 0 && ' · '}
      {fact}
    </Fragment>
  ))
}

type EndpointNeedProps = { tenant: string; of: Pick<Schemas['EndpointSummary'], 'endpoint_id' | 'uid' | 'url' | 'condition' | 'dead'>; waiting?: number; risk?: Risk; named?: boolean }

/** An endpoint that needs attention: with its tenant when named. Deaths lead to their causes. */
export function EndpointNeed({ tenant, of: e, waiting = 0, risk, named }: EndpointNeedProps) {
  const name = nameOf(e)
  const state = e.condition.state
  const dead = e.dead > 0 && (
    <Link to="/t/$tenant/dead-letters" params={{ tenant }}>
      {text.endpoints.dead(e.dead)}
    </Link>
  )
  return (
    <Need
      icon={<ConditionIcon state={state} />}
      title={text.endpoints.needs[state]?.(name) ?? text.endpoints.needDead(e.dead, name)}
      detail={
        <>
          <Facts of={[named && tenant, e.condition.since && <ConditionDetail of={e.condition} />, dead, ...harm(waiting, risk)]} />
          {isPortal && <Todo of={e.condition} />}
        </>
      }
      to={`/t/${tenant}/endpoints/${e.endpoint_id}`}
    />
  )
}

export function Calm() {
  return (
    <ul className="needs">
      <Need icon={<CircleCheck size={17} className="good" />} title={t.calm} detail={t.calmText} />
    </ul>
  )
}

export function Need({ icon, title, detail, to }: { icon: ReactNode; title: ReactNode; detail: ReactNode; to?: string }) {
  return (
    <li>
      <div className="what">
        {icon}
        <div>
          <h3>{title}</h3>
          <div className="soft">{detail}</div>
        </div>
      </div>
      {to && (
        <Link className="button" to={to}>
          {t.look}
          <span className="hidden">: {title}</span>
        </Link>
      )}
    </li>
  )
}

function Figures({ of: h }: { of: Health }) {
  const last = h.last_hour
  const lower = h.complete ? undefined : t.atLeast
  return (
    <div className="stats">
      <Stat name={t.delivered} value={compact(last.delivered)} note={t.since} tone={last.delivered > 0 ? 'good' : undefined} />
      <Stat name={t.failed} value={compact(last.failed)} note={t.since} />
      <Stat name={t.mean} value={last.mean_delivery_time ? duration(last.mean_delivery_time) : '–'} note={t.since} />
      <Stat name={t.dead} value={compact(h.dead)} note={h.complete ? t.open : t.openAtLeast} tone={h.dead > 0 ? 'bad' : undefined} />
      <Stat name={t.circuits} value={compact(h.open_circuits)} note={lower} tone={h.open_circuits > 0 ? 'wait' : undefined} />
      <Stat
        name={t.oldest}
        value={h.oldest_pending ? duration(h.oldest_pending.age) : '–'}
        note={h.oldest_pending && <Link to={deliveryPath(h.oldest_pending.tenant, h.oldest_pending.delivery_id)}>{h.oldest_pending.tenant}</Link>}
      />
    </div>
  )
}

/** The tenants of the last 24 hours, or of the hour of the URL, in the order of the URL. */
function Tenants({ of }: { of: UseQueryResult<Schemas['PipelineStats']> }) {
  const search = useSearch({ from: '/' })
  const set = useFilter()
  const hourly = usePipelineStats({ by: 'hour', group: 'tenant' })
  const hour = Date.parse(search.hour ?? '') || undefined
  const part = parts.find((p) => p === search.part)
  const order = search.sort === 'volume' ? 'volume' : 'failures'
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!part) return
    place.current?.focus({ preventScroll: true })
    place.current?.scrollIntoView({ block: 'nearest' })
  }, [part, hour])
  return (
    <div ref={place} tabIndex={-1} className="place">
      <Card
        title={hour ? t.tenantsOf(span(hour, hour + hourLong)) : t.tenants24}
        aside={
          <div className="row">
            {hour && (
              <Link className="button tiny" to="/">
                {t.allHours}
              </Link>
            )}
            <OrderChoice value={part ?? order} onChange={(sort) => set({ sort, part: undefined })} />
          </div>
        }
        foot={of.data && !of.data.complete && <p className="soft small">{t.sample}</p>}
      >
        <Data of={hour ? hourly : of}>
          {({ data }) => {
            const rows = ordered(hour ? data.filter((r) => Date.parse(r.hour ?? '') === hour) : data, part ?? order)
            return rows.length === 0 ? (
              <Empty title={hour ? t.quietHour : t.quiet}>
                <p>{t.quietText}</p>
                <Link className="button" to="/tenants">
                  {text.tenants.title}
                </Link>
              </Empty>
            ) : (
              <TenantTable rows={hour ? rows : rows.slice(0, mostTenants)} sparks={hourly.data && hoursByTenant(hourly.data)} hour={hour} />
            )
          }}
        </Data>
      </Card>
    </div>
  )
}

function Queues({ of: h }: { of: Health }) {
  return (
    <Card title={t.queues}>
      <div className="scroll" tabIndex={0} role="region" aria-label={t.queues}>
        <table>
          <thead>
            <tr>
              <th>{t.queue}</th>
              <th className="end">{t.visible}</th>
              <th className="end">{t.inFlight}</th>
              <th className="end">{t.delayed}</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(h.queues).map(([name, depth]) => (
              <tr key={name}>
                <td>{name.replace('_', ' ')}</td>
                <td className="end">{count(depth.visible)}</td>
                <td className="end">{count(depth.in_flight)}</td>
                <td className="end">{count(depth.delayed)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}
