import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask } from '../api/client'
import { useTenant, useTypeOptions } from '../api/reads'
import { may } from '../session'
import { text } from '../text'
import { Button } from '../ui/controls'
import { EndpointName, StateCounts } from '../ui/delivery'
import { Filters, SuggestFilter, TextFilter, TimeFilters } from '../ui/filters'
import { List, Table } from '../ui/list'
import { Page } from '../ui/page'
import { Time } from '../ui/time'
import { SendDialog } from './send'

const t = text.events
const filters = ['event_type', 'idempotency_key', 'since', 'until'] as const

export function Events() {
  const tenant = useTenant()
  const search: { [K in (typeof filters)[number] | 'cursor']?: string } = useSearch({ strict: false })
  const query = { event_type: search.event_type, idempotency_key: search.idempotency_key, since: search.since, until: search.until, cursor: search.cursor }
  const [sending, setSending] = useState(false)
  const types = useTypeOptions()
  const list = useQuery({
    queryKey: [tenant, 'events', query],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/events', { params: { path: { tenant }, query } })),
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
      <Filters names={filters} search={search} error={list.error}>
        <SuggestFilter name="event_type" label={t.type} value={search.event_type} options={types} placeholder="order.paid" />
        <TextFilter name="idempotency_key" label={text.deliveries.key} value={search.idempotency_key} />
        <TimeFilters since={search.since} until={search.until} />
      </Filters>
      <List of={list} cursor={search.cursor} empty={{ title: t.empty, text: t.emptyText }}>
        {(data) => (
          <Table compact columns={[t.type, t.deliveries, t.endpoints, text.deliveries.key, { name: t.id, look: 'wide' }, t.accepted]}>
            {data.map((e) => (
              <tr key={e.id}>
                <td>
                  <Link className="strong" to="/t/$tenant/events/$event" params={{ tenant, event: e.id }}>
                    {e.event_type}
                  </Link>
                </td>
                <td className="standing" data-label={t.deliveries}>
                  <StateCounts of={e.deliveries} />
                </td>
                <td data-label={t.endpoints}>
                  <Receivers tenant={tenant} of={e.endpoints} />
                </td>
                <td className={e.idempotency_key ? '' : 'blank'} data-label={text.deliveries.key}>
                  <div className="clip soft">{e.idempotency_key ?? '–'}</div>
                </td>
                <td className="wide" data-label={t.id}>
                  <code className="soft">{e.id}</code>
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

const named = 3

function Receivers({ tenant, of }: { tenant: string; of: string[] }) {
  return (
    <div className="clip">
      {of.slice(0, named).map((id, i) => (
        <span key={id}>
          {i > 0 && ', '}
          <EndpointName tenant={tenant} id={id} />
        </span>
      ))}
      {of.length > named && <span className="soft"> +{of.length - named}</span>}
      {of.length === 0 && <span className="soft">{text.none}</span>}
    </div>
  )
}
