import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask } from '../api/client'
import { type EndpointSummary, nameOf, useTenant, useTenantHealth } from '../api/reads'
import { compact, duration, percent } from '../format'
import { lastHours } from '../hours'
import { isPortal, may, session } from '../session'
import { text } from '../text'
import { ActivityCard, useActivity } from '../ui/activity'
import { DeliveryTable } from '../ui/delivery'
import { ConditionBadge, ConditionDetail } from '../ui/endpoint'
import { LatencyChart } from '../ui/latency'
import { Table } from '../ui/list'
import { Card, Page } from '../ui/page'
import { SparkCell } from '../ui/spark'
import { Data, Empty } from '../ui/states'
import { WaitingCard } from '../ui/waiting'
import { TenantLimits } from './limits'
import { Calm, EndpointNeed } from './overview'
import { PortalLink } from './portal-link'

const t = text.tenant

const mostRows = 100
const mostNeeds = 10

export function TenantOverview() {
  const tenant = useTenant()
  const health = useTenantHealth(tenant)
  const activity = useActivity(tenant)
  return (
    <Page title={t.title} lead={!isPortal && tenant} actions={
        !isPortal &&
        may('portal:write') &&
        !session()?.tenant && (
          <>
            <TenantLimits tenant={tenant} />
            <PortalLink tenant={tenant} />
          </>
        )
      }
    >
      <Data of={health}>
        {({ data, waiting: w }) =>
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
              <ActivityCard of={activity} />
              <WaitingCard
                of={{ queued: w.queued_estimate, retrying: w.retrying, parked: w.parked, reasons: w.parked_by_reason }}
                list={(state) => `/t/${tenant}/deliveries?state=${state}`}
                note={w.complete ? undefined : text.waiting.lower}
              />
              <Needs tenant={tenant} endpoints={data} />
              <Endpoints tenant={tenant} endpoints={data.slice(0, mostRows)} />
              {data.length > mostRows && <p className="soft small">{t.shown(mostRows)}</p>}
              <Failing tenant={tenant} />
              <LatencyChart of={activity.read.data} />
            </>
          )
        }
      </Data>
    </Page>
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
            <EndpointNeed key={e.endpoint_id} tenant={tenant} of={e} />
          ))}
        </ul>
      ) : (
        <Calm />
      )}
    </Card>
  )
}

function Endpoints({ tenant, endpoints }: { tenant: string; endpoints: EndpointSummary[] }) {
  return (
    <Card title={t.endpoints}>
      <Table columns={[text.endpoints.name, text.endpoints.condition, text.activity.today, ...[t.success, t.p95, text.endpoint.delivered, text.endpoint.dead].map((name) => ({ name, end: true as const }))]}>
        {endpoints.map((e) => (
          <tr key={e.endpoint_id}>
            <td>
              <div className="clip">
                <Link className="strong" to="/t/$tenant/endpoints/$endpoint" params={{ tenant, endpoint: e.endpoint_id }}>
                  {nameOf(e)}
                </Link>
              </div>
            </td>
            <td data-label={text.endpoints.condition}>
              <div>
                <ConditionBadge of={e.condition} />
                <div className="soft small">
                  <ConditionDetail of={e.condition} />
                </div>
              </div>
            </td>
            <SparkCell hours={lastHours(e.hours)} />
            <td className="end" data-label={t.success}>
              {percent(e.success_rate)}
            </td>
            <td className="end" data-label={t.p95}>
              {e.latency_p95 ? duration(e.latency_p95) : '–'}
            </td>
            <td className="end" data-label={text.endpoint.delivered}>
              {compact(e.delivered)}
            </td>
            <td className={`end ${e.dead ? 'bad' : ''}`} data-label={text.endpoint.dead}>
              {compact(e.dead)}
            </td>
          </tr>
        ))}
      </Table>
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
