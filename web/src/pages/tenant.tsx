import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleX, PauseCircle, Unplug } from 'lucide-react'
import type { ReactNode } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { type Endpoint, nameOf, useEndpoints, useHourlyStats, useTenant } from '../api/reads'
import { compact, duration, percent } from '../format'
import { isPortal, may, session } from '../session'
import { text } from '../text'
import { DeliveryTable } from '../ui/delivery'
import { CircuitBadge, EndpointStatus } from '../ui/endpoint'
import { LatencyChart } from '../ui/latency'
import { Card, Page } from '../ui/page'
import { Data, Empty } from '../ui/states'
import { Time } from '../ui/time'
import { TenantLimits } from './limits'
import { Calm, Need } from './overview'
import { PortalLink } from './portal-link'

const t = text.tenant

// Each row reads the health of one endpoint.
const mostRows = 25

type Health = Schemas['EndpointHealth']

export function TenantOverview() {
  const tenant = useTenant()
  const endpoints = useEndpoints(tenant)
  const shown = (endpoints.data?.data ?? []).slice(0, mostRows)
  const health = useQueries({
    queries: shown.map((e) => ({
      queryKey: [tenant, 'health', e.id],
      queryFn: () => ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/health', { params: { path: { tenant, endpoint: e.id } } })),
      staleTime: 10_000,
    })),
  })
  const stats = useHourlyStats(tenant)
  const of = new Map<string, Health>()
  for (const h of health) if (h.data) of.set(h.data.endpoint_id, h.data)
  return (
    <Page title={t.title} lead={!isPortal && tenant} actions={
        !isPortal &&
        !session()?.tenant && (
          <>
            <TenantLimits tenant={tenant} />
            <PortalLink tenant={tenant} />
          </>
        )
      }
    >
      <Data of={endpoints}>
        {({ data }) =>
          data.length === 0 ? (
            <Card>
              <Empty title={t.none}>
                <p>{t.first}</p>
                {may('endpoints:write') && (
                  <Link className="button primary" to="/t/$tenant/new-endpoint" params={{ tenant }}>
                    {text.endpoints.create}
                  </Link>
                )}
              </Empty>
            </Card>
          ) : (
            <>
              <Needs tenant={tenant} endpoints={data} health={of} />
              <Table tenant={tenant} endpoints={shown} health={of} />
              {data.length > mostRows && <p className="soft small">{t.shown(mostRows)}</p>}
              <Failing tenant={tenant} />
              <LatencyChart rows={stats.data?.data} />
            </>
          )
        }
      </Data>
    </Page>
  )
}

function Needs({ tenant, endpoints, health }: { tenant: string; endpoints: Endpoint[]; health: Map<string, Health> }) {
  const items: ReactNode[] = []
  for (const e of endpoints) {
    const name = nameOf(e)
    const to = `/t/${tenant}/endpoints/${e.id}`
    const h = health.get(e.id)
    if (e.status !== 'active') {
      items.push(
        <Need
          key={`${e.id} status`}
          icon={<PauseCircle size={17} className={e.status === 'disabled' ? 'bad' : 'wait'} />}
          title={e.status === 'disabled' ? t.needDisabled(name) : t.needPaused(name)}
          detail={
            <>
              {e.reason}, {t.since} <Time at={e.status_since} />
            </>
          }
          to={to}
        />,
      )
    }
    if (h && h.circuit_state.state !== 'closed') {
      items.push(
        <Need
          key={`${e.id} circuit`}
          icon={<Unplug size={17} className="wait" />}
          title={t.needOpen(name)}
          detail={
            h.circuit_state.next_probe_at && (
              <>
                {t.probe} <Time at={h.circuit_state.next_probe_at} />
              </>
            )
          }
          to={to}
        />,
      )
    }
    if (h && h.deliveries.dead > 0) {
      items.push(
        <Need key={`${e.id} dead`} icon={<CircleX size={17} className="bad" />} title={t.needDead(h.deliveries.dead, name)} detail={text.overview.needDeadText} to={`/t/${tenant}/dead-letters`} />,
      )
    }
  }
  if (items.length === 0 && health.size < Math.min(endpoints.length, mostRows)) return null // not known yet
  return <Card title={text.overview.needs}>{items.length ? <ul className="needs">{items}</ul> : <Calm />}</Card>
}

function Table({ tenant, endpoints, health }: { tenant: string; endpoints: Endpoint[]; health: Map<string, Health> }) {
  return (
    <Card title={t.endpoints}>
      <table className="cards">
        <thead>
          <tr>
            <th>{text.endpoints.name}</th>
            <th>{text.endpoints.status}</th>
            <th className="end">{t.success}</th>
            <th className="end">{t.p95}</th>
            <th className="end">{text.endpoint.delivered}</th>
            <th className="end">{t.waiting}</th>
            <th className="end">{text.endpoint.dead}</th>
          </tr>
        </thead>
        <tbody>
          {endpoints.map((e) => {
            const h = health.get(e.id)
            const w = h?.windows['24h']
            const waits = h ? h.deliveries.retrying + h.deliveries.parked : 0
            return (
              <tr key={e.id}>
                <td>
                  <div className="clip">
                    <Link className="strong" to="/t/$tenant/endpoints/$endpoint" params={{ tenant, endpoint: e.id }}>
                      {nameOf(e)}
                    </Link>
                  </div>
                </td>
                <td data-label={text.endpoints.status}>
                  <span className="row">
                    <EndpointStatus of={e} />
                    {h && h.circuit_state.state !== 'closed' && <CircuitBadge state={h.circuit_state.state} />}
                  </span>
                </td>
                <td className="end" data-label={t.success}>
                  {percent(w?.success_rate)}
                </td>
                <td className="end" data-label={t.p95}>
                  {w?.latency ? duration(w.latency.p95) : '–'}
                </td>
                <td className="end" data-label={text.endpoint.delivered}>
                  {w ? compact(w.delivered) : '–'}
                </td>
                <td className={`end ${waits ? 'wait' : ''}`} data-label={t.waiting}>
                  {h ? compact(waits) : '–'}
                </td>
                <td className={`end ${h?.deliveries.dead ? 'bad' : ''}`} data-label={text.endpoint.dead}>
                  {h ? compact(h.deliveries.dead) : '–'}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Card>
  )
}

function Failing({ tenant }: { tenant: string }) {
  const list = useQuery({
    queryKey: [tenant, 'failing'],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/deliveries', { params: { path: { tenant }, query: { state: 'retrying', limit: 10 } } })),
  })
  if (!list.data || list.data.data.length === 0) return null
  return (
    <Card title={t.failing}>
      <DeliveryTable tenant={tenant} deliveries={list.data.data} endpoint />
    </Card>
  )
}
