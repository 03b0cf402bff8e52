import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask } from '../api/client'
import { useTenant } from '../api/reads'
import { may } from '../session'
import { text } from '../text'
import { Button } from '../ui/controls'
import { EndpointName } from '../ui/delivery'
import { ClearFilters, TextFilter, TimeFilter } from '../ui/filters'
import { List, Table } from '../ui/list'
import { Page } from '../ui/page'
import { Time } from '../ui/time'
import { SendDialog } from './send'

const t = text.events
const filters = ['event_type', 'idempotency_key', 'since', 'until'] as const

export function Events() {
  const tenant = useTenant()
  const search: { [K in (typeof filters)[number] | 'cursor']?: string } = useSearch({ strict: false })
  const [sending, setSending] = useState(false)
  const list = useQuery({
    queryKey: [tenant, 'events', search],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/events', { params: { path: { tenant }, query: { ...search } } })),
  })
  return (
    <Page
      title={t.title}
      lead={t.lead}
      actions={
        may('events:write') && ( // a portal's key posts no events: its tenant tests endpoints
          <Button look="primary" onClick={() => setSending(true)}>
            {t.send}
          </Button>
        )
      }
    >
      <SendDialog tenant={tenant} open={sending} onOpenChange={setSending} />
      <div className="filters" role="search">
        <TextFilter name="event_type" label={t.type} value={search.event_type} placeholder="order.paid" />
        <TextFilter name="idempotency_key" label={text.deliveries.key} value={search.idempotency_key} />
        <TimeFilter name="since" label={text.deliveries.since} value={search.since} />
        <TimeFilter name="until" label={text.deliveries.until} value={search.until} />
        <ClearFilters names={filters} search={search} />
      </div>
      <List of={list} cursor={search.cursor} empty={{ title: t.empty, text: t.emptyText }}>
        {(data) => (
          <Table columns={[t.type, t.id, t.endpoints, text.deliveries.key, t.accepted]}>
            {data.map((e) => (
              <tr key={e.id}>
                <td>
                  <Link className="strong" to="/t/$tenant/events/$event" params={{ tenant, event: e.id }}>
                    {e.event_type}
                  </Link>
                </td>
                <td data-label={t.id}>
                  <code className="soft">{e.id}</code>
                </td>
                <td data-label={t.endpoints}>
                  <div className="clip">
                    {e.endpoints.slice(0, 3).map((id, i) => (
                      <span key={id}>
                        {i > 0 && ', '}
                        <EndpointName tenant={tenant} id={id} />
                      </span>
                    ))}
                          {e.endpoints.length > 3 && <span className="soft"> +{e.endpoints.length - 3}</span>}
                          {e.endpoints.length === 0 && <span className="soft">{text.none}</span>}
                        </div>
                      </td>
                      <td data-label={text.deliveries.key}>
                        <div className="clip soft">{e.idempotency_key ?? '–'}</div>
                      </td>
                      <td data-label={t.accepted}>
                        <Time at={e.accepted_at} />
                      </td>
                    </tr>
                  ))}
          </Table>
        )}
      </List>
    </Page>
  )
}
