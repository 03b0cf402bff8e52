import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask } from '../api/client'
import { useTenant, useTypeOptions } from '../api/reads'
import { isPortal, may } from '../session'
import { text } from '../text'
import { Button } from '../ui/controls'
import { DeliveryTable } from '../ui/delivery'
import { EndpointFilter, Filters, SelectFilter, SuggestFilter, TextFilter, TimeFilters } from '../ui/filters'
import { List } from '../ui/list'
import { Page } from '../ui/page'
import { ReplayDialog, type Selection } from './replay-dialog'

const t = text.deliveries
const words = isPortal ? text.replay.portal : text.replay.console

export const deliveryFilters = ['state', 'endpoint', 'event_type', 'status_class', 'failed_attempt', 'idempotency_key', 'since', 'until'] as const
type Search = { [K in (typeof deliveryFilters)[number] | 'cursor']?: string }
const states = ['retrying', 'parked', 'delivered', 'dead', 'discarded', 'cancelled'] as const
type State = (typeof states)[number]

/** The filters of the list that a job has, too. */
function selectionOf({ state, status_class, failed_attempt, idempotency_key, event_type, since, until, ...search }: Search, endpoint = search.endpoint): Selection {
  const known = state && state in words.states ? (state as keyof typeof words.states) : 'dead'
  return {
    endpoint,
    state: known,
    event_types: event_type ? [event_type] : undefined,
    since,
    until,
    partial: !!status_class || !!failed_attempt || !!idempotency_key || (!!state && state !== known),
  }
}

export function Deliveries() {
  const tenant = useTenant()
  return (
    <Page title={t.title} lead={t.lead}>
      <DeliveryList tenant={tenant} />
    </Page>
  )
}

/** The deliveries of the tenant, or of one endpoint, with the filters of the URL. */
export function DeliveryList({ tenant, endpoint }: { tenant: string; endpoint?: string }) {
  const search: Search = useSearch({ strict: false })
  const types = useTypeOptions()
  const [selection, setSelection] = useState<Selection | null>(null)
  const query = {
    state: search.state as State | undefined,
    endpoint: endpoint ?? search.endpoint,
    event_type: search.event_type,
    status_class: search.status_class as '2xx' | undefined,
    failed_attempt: search.failed_attempt ? true : undefined,
    idempotency_key: search.idempotency_key,
    since: search.since,
    until: search.until,
    cursor: search.cursor,
  }
  const list = useQuery({
    queryKey: [tenant, 'deliveries', query],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/deliveries', { params: { path: { tenant }, query } })),
  })
  return (
    <>
      <Filters
        names={deliveryFilters}
        search={search}
        error={list.error}
        actions={may('replay') && <Button onClick={() => setSelection(selectionOf(search, endpoint))}>{words.open}</Button>}
      >
        <SelectFilter name="state" label={t.state} value={search.state} options={states.map((s) => ({ value: s, label: text.states[s] ?? s }))} />
        {!endpoint && <EndpointFilter tenant={tenant} name="endpoint" label={t.endpoint} value={search.endpoint} />}
        <SuggestFilter name="event_type" label={t.event} value={search.event_type} options={types} placeholder="order.paid" />
        <SelectFilter name="status_class" label={t.status} value={search.status_class} options={Object.entries(t.statuses).map(([value, label]) => ({ value, label }))} />
        <SelectFilter name="failed_attempt" label={t.attempts} value={search.failed_attempt} options={[{ value: 'true', label: t.failedAttempt }]} />
        <TextFilter name="idempotency_key" label={t.key} value={search.idempotency_key} />
        <TimeFilters since={search.since} until={search.until} />
      </Filters>
      <ReplayDialog tenant={tenant} selection={selection} close={() => setSelection(null)} />
      <List of={list} cursor={search.cursor} empty={{ title: t.empty, text: t.emptyText }}>
        {(data) => <DeliveryTable tenant={tenant} deliveries={data} endpoint={!endpoint} />}
      </List>
    </>
  )
}
