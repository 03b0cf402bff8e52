import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask, type Schemas } from '../api/client'
import { type EndpointSummary, useTenant, useTenantHealth } from '../api/reads'
import { until } from '../format'
import { isPortal, may, session } from '../session'
import { text } from '../text'
import { ActivityCard, RangeChoice, useActivity } from '../ui/activity'
import { DeliveryTable } from '../ui/delivery'
import { LatencyChart } from '../ui/latency'
import { Card, Page } from '../ui/page'
import { Data, Empty } from '../ui/states'
import { TypeStats } from '../ui/type-stats'
import { WaitingCard } from '../ui/waiting'
import { EndpointTable } from './endpoints'
import { TenantLimits } from './limits'
import { Calm, EndpointNeed } from './overview'
import { PortalLink } from './portal-link'

const t = text.tenant

const mostRows = 20
const mostNeeds = 10

export function TenantOverview() {
  const tenant = useTenant()
  const health = useTenantHealth(tenant, undefined, 500)
  const activity = useActivity(tenant)
  return (
    <Page title={t.title} lead={!isPortal && tenant} actions={
        <>
          {may('admin') && !session()?.tenant && <TenantLimits tenant={tenant} />}
          {!isPortal && may('portal:write') && !session()?.tenant && <PortalLink tenant={tenant} />}
        </>
      }
    >
      <Data of={health}>
        {({ data, endpoints, waiting: w, unknown }) =>
          data.length === 0 ? (
            <Card>
              <Empty title={unknown && !isPortal ? t.unknown : t.none}>
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
              <Verdict endpoints={data} of={w} />
              <Needs tenant={tenant} endpoints={data} />
              <RangeChoice of={activity} />
              <ActivityCard of={activity} />
              <WaitingCard
                of={{ queued: w.queued_estimate, retrying: w.retrying, reasons: w.parked_by_reason }}
                list={(state) => `/t/${tenant}/deliveries?state=${state}`}
                counted={w}
              />
              <Card
                title={t.endpoints}
                foot={
                  <Link className="button tiny" to="/t/$tenant/endpoints" params={{ tenant }}>
                    {t.all(endpoints)}
                  </Link>
                }
              >
                <EndpointTable tenant={tenant} endpoints={data.slice(0, mostRows)} />
              </Card>
              <Failing tenant={tenant} />
              <LatencyChart of={activity.read.data} />
              <TypeStats of={activity} />
            </>
          )
        }
      </Data>
    </Page>
  )
}

/** How the endpoints do, in one sentence. */
function Verdict({ endpoints, of: w }: { endpoints: EndpointSummary[]; of: Schemas['TenantWaiting'] }) {
  const number = (...states: string[]) => endpoints.filter((e) => states.includes(e.condition.state)).length
  const failing = number('failing', 'degraded')
  const stopped = number('paused', 'disabled')
  const waiting = w.retrying + w.parked
  const lost = endpoints.reduce((sum, e) => sum + e.dead, 0)
  return (
    <p className="verdict">
      {[
        failing > 0 ? t.fails(failing) : number('healthy') > 0 ? t.noneFails : stopped === 0 && text.conditions.quiet,
        stopped > 0 && t.stopped(stopped),
        waiting > 0 && text.endpoints.waiting(waiting, w.complete),
        lost > 0 && text.overview.lost(lost),
      ]
        .filter(Boolean)
        .join('; ')}
      {w.first_loss_at && (
        <>
          {'; '}
          <strong>
            {text.endpoints.atRisk(w.at_risk)} {until(w.first_loss_at)}
          </strong>
        </>
      )}
      {'.'}
    </p>
  )
}

/** The endpoints that need attention, in the API's order. */
function Needs({ tenant, endpoints }: { tenant: string; endpoints: EndpointSummary[] }) {
  const needing = endpoints.filter((e) => e.attention).slice(0, mostNeeds)
  return (
    <Card title={text.overview.needs}>
      {needing.length > 0 ? (
        <ul className="needs">
          {needing.map((e) => (
            <EndpointNeed key={e.endpoint_id} tenant={tenant} of={e} waiting={e.waiting} risk={e} />
          ))}
        </ul>
      ) : (
        <Calm />
      )}
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
