import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { api, ask } from '../api/client'
import { useTenant } from '../api/reads'
import { text } from '../text'
import { actionOf, type Change, Changed, Outcome, Target, whoOf } from '../ui/change'
import { EndpointFilter, Filters, SelectFilter, SuggestFilter, TimeFilters } from '../ui/filters'
import { List, Table } from '../ui/list'
import { Page } from '../ui/page'
import { Time } from '../ui/time'

const t = text.changes

export const changeFilters = ['action', 'key', 'target', 'since', 'until'] as const
type Search = { [K in (typeof changeFilters)[number] | 'cursor']?: string }

export function Changes() {
  const tenant = useTenant()
  const search: Search = useSearch({ strict: false })
  const query = { action: search.action, key: search.key, target: search.target, since: search.since, until: search.until, cursor: search.cursor }
  const list = useQuery({
    queryKey: [tenant, 'changes', query],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/audit', { params: { path: { tenant }, query } })),
  })
  const people = new Map((list.data?.data ?? []).flatMap((a) => (a.key_id ? [[a.key_id, whoOf(a)]] : [])))
  return (
    <Page title={t.title} lead={t.lead}>
      <Filters names={changeFilters} search={search} error={list.error}>
        <SelectFilter name="action" label={t.action} value={search.action} options={Object.entries(t.actions).map(([value, label]) => ({ value, label }))} />
        <SuggestFilter name="key" label={t.who} value={search.key} options={[...people].map(([value, label]) => ({ value, label }))} placeholder={text.any} />
        <EndpointFilter tenant={tenant} name="target" label={t.target} value={search.target} />
        <TimeFilters since={search.since} until={search.until} />
      </Filters>
      <List of={list} cursor={search.cursor} empty={{ title: t.empty, text: t.emptyText }}>
        {(data) => (
          <Table columns={[t.action, t.target, t.details, t.who, t.at]}>
            {data.map((a) => (
              <Row key={a.id} tenant={tenant} of={a} />
            ))}
          </Table>
        )}
      </List>
    </Page>
  )
}

function Row({ tenant, of: a }: { tenant: string; of: Change }) {
  return (
    <tr>
      <td>
        <span className="strong" title={a.action}>
          {actionOf(a)}
        </span>{' '}
        <Outcome of={a} />
      </td>
      <td className={a.target ? '' : 'blank'} data-label={t.target}>
        <div className="clip">
          <Target tenant={tenant} of={a.target} />
        </div>
      </td>
      <td className={a.changes ? '' : 'blank'} data-label={t.details}>
        <Changed of={a} />
      </td>
      <td data-label={t.who}>
        <div>
          {a.key_id ? (
            <Link to="." search={(s: Record<string, unknown>) => ({ ...s, key: a.key_id, cursor: undefined })}>
              {whoOf(a)}
            </Link>
          ) : (
            whoOf(a)
          )}
          {a.source_ip && <div className="soft small">{a.source_ip}</div>}
        </div>
      </td>
      <td data-label={t.at}>
        <Time at={a.at} />
      </td>
    </tr>
  )
}
