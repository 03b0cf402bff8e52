import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { api, ask } from '../api/client'
import { type EndpointSummary, nameOf, useTenant, useTenantHealth } from '../api/reads'
import { compact, duration, percent } from '../format'
import { lastHours } from '../hours'
import { may } from '../session'
import { text } from '../text'
import { ConditionBadge, ConditionDetail } from '../ui/endpoint'
import { SelectFilter, TextFilter } from '../ui/filters'
import { Table } from '../ui/list'
import { Card, Page } from '../ui/page'
import { SparkCell } from '../ui/spark'
import { Data, Empty } from '../ui/states'

const t = text.endpoints

const most = 500

type Signers = 'both' | 'old'

/** The ids of the endpoints that sign so; undefined without a choice. */
function useSignedBy(tenant: string, by?: string) {
  const list = useQuery({
    queryKey: [tenant, 'signed', by],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/endpoints', { params: { path: { tenant }, query: { signed_by: by as Signers, limit: 100 } } })),
    enabled: !!by,
  })
  return by ? new Set(list.data?.data.map((e) => e.id)) : undefined
}

/**
 * The endpoints of a tenant, the worst first. Reads: every 30 seconds the health of those that match the search, and with a
 * choice of secrets the first hundred endpoints that sign so.
 */
export function Endpoints() {
  const tenant = useTenant()
  const { search, all, signed_by: by } = useSearch({ from: '/t/$tenant/endpoints' })
  const signed = useSignedBy(tenant, by)
  const health = useTenantHealth(tenant, search, all || by ? most : undefined)
  const create = may('endpoints:write') && (
    <Link className="button primary" to="/t/$tenant/new-endpoint" params={{ tenant }}>
      <Plus size={14} /> {t.create}
    </Link>
  )
  return (
    <Page title={t.title} lead={t.lead} actions={create}>
      <div className="filters">
        <TextFilter name="search" label={t.search} value={search} placeholder={t.searchFor} />
        <SelectFilter name="signed_by" label={t.secrets} value={by} options={(['both', 'old'] as const).map((value) => ({ value, label: t.signedBy[value] }))} />
      </div>
      <Card>
        <Data of={health}>
          {({ data, endpoints }) => {
            const shown = signed ? data.filter((e) => signed.has(e.endpoint_id)) : data
            return shown.length === 0 ? (
              <Empty title={search || by ? t.noMatch : t.empty}>
                {!by && <p>{search ? t.noMatchText : t.emptyText}</p>}
                {!search && !by && create}
              </Empty>
            ) : (
              <>
                <EndpointTable tenant={tenant} endpoints={shown} />
                {data.length < endpoints && <MoreEndpoints shown={data.length} of={endpoints} />}
              </>
            )
          }}
        </Data>
      </Card>
    </Page>
  )
}

function MoreEndpoints({ shown, of }: { shown: number; of: number }) {
  return (
    <nav className="pager" aria-label={text.more}>
      <span className="soft">{t.shown(shown, of)}</span>
      <Link className="button tiny" to="." search={(s: Record<string, unknown>) => ({ ...s, all: '1' })}>
        {t.all}
      </Link>
    </nav>
  )
}

/** A row for each endpoint: its condition, and its figures of the last 24 hours. */
export function EndpointTable({ tenant, endpoints }: { tenant: string; endpoints: EndpointSummary[] }) {
  return (
    <Table columns={[t.name, t.condition, text.activity.today, ...[text.tenant.success, text.tenant.p95, text.endpoint.delivered, text.endpoint.dead].map((name) => ({ name, look: 'end' as const }))]}>
      {endpoints.map((e) => (
        <tr key={e.endpoint_id}>
          <td>
            <div className="clip">
              <Link className="strong" to="/t/$tenant/endpoints/$endpoint" params={{ tenant, endpoint: e.endpoint_id }}>
                {nameOf(e)}
              </Link>
            </div>
            {e.uid && <div className="soft small clip">{e.url}</div>}
          </td>
          <td data-label={t.condition}>
            <div>
              <ConditionBadge of={e.condition} />
              <div className="soft small">
                <ConditionDetail of={e.condition} />
              </div>
            </div>
          </td>
          <SparkCell hours={lastHours(e.hours)} />
          <td className="end" data-label={text.tenant.success}>
            {percent(e.success_rate)}
          </td>
          <td className="end" data-label={text.tenant.p95}>
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
  )
}
