import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { AlertTriangle, CircleCheck, CircleX, Clock, Unplug } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { usePipelineStats } from '../api/reads'
import { compact, count, duration, goDuration, percent } from '../format'
import { text } from '../text'
import { Data, Empty } from '../ui/states'
import { LatencyChart } from '../ui/latency'
import { Table } from '../ui/list'
import { Card, Page, Stat } from '../ui/page'
import { deliveryPath } from '../ui/paths'
import { Time } from '../ui/time'

type Health = Schemas['Health']
type StatsRow = Schemas['StatsRow']

const mostTenants = 10
const t = text.overview

export function Overview() {
  const health = useQuery({ queryKey: ['health'], queryFn: () => ask(api().GET('/v1/health')) })
  const hourly = usePipelineStats({ by: 'hour' })
  const tenants = usePipelineStats({ group: 'tenant' })
  return (
    <Page title={t.title}>
      <Data of={health}>
        {(h) => (
          <>
            <Needs of={h} tenants={tenants.data?.data ?? []} />
            <Figures of={h} />
            {!h.complete && <p className="soft small">{t.lower}</p>}
            <LatencyChart rows={hourly.data?.data} />
            <div className="split">
              <Tenants of={tenants} />
              <Queues of={h} />
            </div>
          </>
        )}
      </Data>
    </Page>
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
  if (h.dead > 0) {
    items.push(
      <Need
        key="d"
        icon={<CircleX size={17} className="bad" />}
        title={t.needDead(h.dead)}
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
          <p className="soft">{detail}</p>
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
  return (
    <div className="stats">
      <Stat name={t.delivered} value={compact(last.delivered)} note={t.since} tone={last.delivered > 0 ? 'good' : undefined} />
      <Stat name={t.failed} value={compact(last.failed)} note={t.since} />
      <Stat name={t.mean} value={last.mean_delivery_time ? duration(last.mean_delivery_time) : '–'} note={t.since} />
      <Stat name={t.queued} value={compact(h.queued)} />
      <Stat name={t.retrying} value={compact(h.retrying)} />
      <Stat name={t.parked} value={compact(h.parked)} tone={h.parked > 0 ? 'wait' : undefined} />
      <Stat name={t.dead} value={compact(h.dead)} tone={h.dead > 0 ? 'bad' : undefined} />
      <Stat name={t.circuits} value={compact(h.open_circuits)} tone={h.open_circuits > 0 ? 'wait' : undefined} />
      <Stat
        name={t.oldest}
        value={h.oldest_pending ? duration(h.oldest_pending.age) : '–'}
        note={h.oldest_pending && <Link to={deliveryPath(h.oldest_pending.tenant, h.oldest_pending.delivery_id)}>{h.oldest_pending.tenant}</Link>}
      />
    </div>
  )
}

const byDeaths = (rows: StatsRow[]) => [...rows].sort((a, b) => Number(!!a.other) - Number(!!b.other) || b.dead - a.dead || b.attempts - a.attempts)

/** The tenants of the last 24 hours: those with the most deaths first, then those with the most attempts. */
function Tenants({ of }: { of: UseQueryResult<Schemas['PipelineStats']> }) {
  return (
    <Card title={t.tenants24} foot={of.data && !of.data.complete && <p className="soft small">{t.sample}</p>}>
      <Data of={of}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t.quiet}>
              <p>{t.quietText}</p>
              <Link className="button" to="/tenants">
                {text.tenants.title}
              </Link>
            </Empty>
          ) : (
            <Table columns={[text.tenants.id, ...[t.success, t.p95, t.delivered, t.died].map((name) => ({ name, end: true as const }))]}>
              {byDeaths(data).slice(0, mostTenants).map((r) => (
                <TenantRow key={r.tenant ?? ''} of={r} />
              ))}
            </Table>
          )
        }
      </Data>
    </Card>
  )
}

function TenantRow({ of: r }: { of: StatsRow }) {
  return (
    <tr>
      <td>
        {r.tenant ? (
          <Link className="strong" to="/t/$tenant" params={{ tenant: r.tenant }}>
            {r.tenant}
          </Link>
        ) : (
          t.others
        )}
      </td>
      <td className="end" data-label={t.success}>
        {percent(r.success_rate)}
      </td>
      <td className="end" data-label={t.p95}>
        {r.latency ? duration(r.latency.p95) : '–'}
      </td>
      <td className="end" data-label={t.delivered}>
        {compact(r.delivered)}
      </td>
      <td className={`end ${r.dead ? 'bad' : ''}`} data-label={t.died}>
        {compact(r.dead)}
      </td>
    </tr>
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
