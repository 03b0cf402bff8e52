import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { api, ask } from '../api/client'
import { type Endpoint, type EndpointSummary, nameOf, useTenant, useTenantHealth } from '../api/reads'
import { lastHours } from '../hours'
import { may } from '../session'
import { text } from '../text'
import { ConditionBadge, ConditionDetail, EndpointStatus } from '../ui/endpoint'
import { List, Table } from '../ui/list'
import { Page } from '../ui/page'
import { SparkCell } from '../ui/spark'
import { Time } from '../ui/time'

const t = text.endpoints

/** A page of endpoints. Reads: the page, and every 30 seconds the health of the tenant for conditions and sparks. */
export function Endpoints() {
  const tenant = useTenant()
  const { cursor } = useSearch({ from: '/t/$tenant/endpoints' })
  const list = useQuery({
    queryKey: [tenant, 'endpoints', 'page', cursor],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/endpoints', { params: { path: { tenant }, query: { cursor, limit: 100 } } })),
  })
  const health = useTenantHealth(tenant)
  const known = new Map(health.data?.data.map((h) => [h.endpoint_id, h]))
  const create = may('endpoints:write') && (
    <Link className="button primary" to="/t/$tenant/new-endpoint" params={{ tenant }}>
      <Plus size={14} /> {t.create}
    </Link>
  )
  return (
    <Page title={t.title} lead={t.lead} actions={create}>
      <List of={list} cursor={cursor} empty={{ title: t.empty, text: t.emptyText, action: create }}>
        {(data) => (
          <Table columns={[t.name, t.condition, text.activity.today, t.url, t.types, t.updated]}>
            {byHarm(data, [...known.keys()]).map((e) => (
              <Row key={e.id} tenant={tenant} of={e} health={known.get(e.id)} />
            ))}
          </Table>
        )}
      </List>
    </Page>
  )
}

/** The endpoints in the API's order of harm; new ones without a place come last. */
function byHarm(endpoints: Endpoint[], order: string[]): Endpoint[] {
  const place = new Map(order.map((id, i) => [id, i]))
  return [...endpoints].sort((a, b) => (place.get(a.id) ?? order.length) - (place.get(b.id) ?? order.length))
}

function Row({ tenant, of: e, health }: { tenant: string; of: Endpoint; health?: EndpointSummary }) {
  return (
    <tr>
      <td>
        <div className="clip">
          <Link className="strong" to="/t/$tenant/endpoints/$endpoint" params={{ tenant, endpoint: e.id }}>
            {nameOf(e)}
          </Link>
        </div>
        {e.description && <div className="soft small clip">{e.description}</div>}
      </td>
      <td data-label={t.condition}>
        {health ? (
          <div>
            <ConditionBadge of={health.condition} />
            <div className="soft small">
              <ConditionDetail of={health.condition} />
            </div>
          </div>
        ) : (
          <EndpointStatus of={e} />
        )}
      </td>
      <SparkCell hours={health && lastHours(health.hours)} />
      <td data-label={t.url}>
        <div className="clip soft">{e.url}</div>
      </td>
      <td data-label={t.types}>
        <div className="clip">
          <code>{e.event_types.join(' ')}</code>
        </div>
      </td>
      <td data-label={t.updated}>
        <Time at={e.updated_at} />
      </td>
    </tr>
  )
}
