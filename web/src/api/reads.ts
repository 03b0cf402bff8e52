import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { fieldOf } from '../json'
import { api, ask, type Schemas } from './client'

export type Delivery = Schemas['Delivery']
export type Endpoint = Schemas['Endpoint']
export type EndpointSummary = Schemas['EndpointSummary']
export type Condition = Schemas['Condition']

/** The tenant of the page. */
export function useTenant(): string {
  return useParams({ strict: false }).tenant ?? ''
}

const mostListed = 500

/** The first 500 endpoints of the tenant, for menus. The API reads a hundred in a request, so a page asks when a menu is used. */
export function useEndpoints(tenant: string, enabled = true) {
  return useQuery({
    queryKey: [tenant, 'endpoints'],
    queryFn: async () => {
      const all: Endpoint[] = []
      let cursor: string | undefined
      do {
        const page = await ask(api().GET('/v1/tenants/{tenant}/endpoints', { params: { path: { tenant }, query: { limit: 100, cursor } } }))
        all.push(...page.data)
        cursor = page.next_cursor ?? undefined
      } while (cursor && all.length < mostListed)
      return all
    },
    enabled,
    ...kept,
  })
}

// Endpoints are renamed seldom, and what this page changes is read again.
const kept = { refetchInterval: false as const, staleTime: 600_000 }

/** The endpoint with the id, for its name. One request reads all that a page shows; null for a deleted one. */
export function useNamed(tenant: string, id: string | undefined) {
  return useQuery({ queryKey: [tenant, 'named', id], queryFn: () => named(tenant, id!), enabled: !!id, ...kept })
}

let asking: { tenant: string; ids: Set<string>; found: Promise<Endpoint[]> } | undefined

function named(tenant: string, id: string): Promise<Endpoint | null> {
  if (asking?.tenant !== tenant || asking.ids.size === 100) {
    const ids = new Set<string>()
    const found = new Promise((done) => setTimeout(done)).then(async () => {
      if (asking?.ids === ids) asking = undefined
      return (await ask(api().GET('/v1/tenants/{tenant}/endpoints', { params: { path: { tenant }, query: { ids: [...ids].join(), limit: 100 } } }))).data
    })
    asking = { tenant, ids, found }
  }
  asking.ids.add(id)
  return asking.found.then((all) => all.find((e) => e.id === id) ?? null)
}

/** The names of the endpoints of a tenant to choose from, and, of more than the menu holds, those that the API finds by what was typed. */
export function useEndpointOptions(tenant: string, enabled: boolean, typed: string) {
  const listed = useEndpoints(tenant, enabled).data ?? []
  const found = useTenantHealth(tenant, typed, 20, listed.length >= mostListed && typed !== '').data?.data ?? []
  const names = new Map([...listed.map((e) => [e.id, nameOf(e)] as const), ...found.map((e) => [e.endpoint_id, nameOf(e)] as const)])
  const first = new Map([...names].reverse().map(([id, name]) => [name, id]))
  return [...names].map(([value, name]) => ({ value, label: first.get(name) === value ? name : `${name} (${value})` }))
}

/** The first hundred event types as suggestions. */
export const useTypeOptions = () => (useEventTypes().data?.data ?? []).map(({ event_type }) => ({ value: event_type, label: event_type }))

/** How the endpoints of the tenant do whose names contain the search, the worst first. The API reads the counts of each of them. */
export function useTenantHealth(tenant: string, search?: string, limit = 100, enabled = true) {
  return useQuery({
    queryKey: [tenant, 'health', 'endpoints', search, limit],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/health', { params: { path: { tenant }, query: { search, limit } } })),
    enabled,
    refetchInterval: 30_000,
    staleTime: 10_000,
    placeholderData: (before, query) => (query?.queryKey[0] === tenant ? before : undefined),
  })
}

export function useEndpointHealth(tenant: string, endpoint: string) {
  return useQuery({
    queryKey: [tenant, 'health', endpoint],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/health', { params: { path: { tenant, endpoint } } })),
  })
}

/** Where requests of endpoints can come from: settings of the deployment. */
export function useEgress(tenant: string) {
  return useQuery({
    queryKey: [tenant, 'egress'],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/egress', { params: { path: { tenant } } })),
    staleTime: Infinity,
  })
}

/** An event type as read: the schema and the example are the stored texts, with every digit. */
export type ReadEventType = { type: Schemas['EventType']; schema: string; example: string }

export function useEventType(name: string, enabled = true) {
  return useQuery({
    queryKey: ['event-type', name],
    queryFn: async (): Promise<ReadEventType> => {
      const answer = await ask(api().GET('/v1/event-types/{type}', { params: { path: { type: name } }, parseAs: 'text' }))
      return { type: JSON.parse(answer) as Schemas['EventType'], schema: fieldOf(answer, 'schema'), example: fieldOf(answer, 'example') }
    },
    enabled,
  })
}

/** The first hundred event types in use. */
export function useEventTypes() {
  return useQuery({
    queryKey: ['event-types'],
    queryFn: () => ask(api().GET('/v1/event-types', { params: { query: { limit: 100 } } })),
    staleTime: 15_000,
  })
}

/** The name of an endpoint for people: the alias, or the host and path. */
export function nameOf(e: Pick<Endpoint, 'uid' | 'url'>): string {
  return e.uid || e.url.replace(/^https?:\/\//, '')
}

// Statistics change by the hour, so a minute is soon enough for a chart.
const chart = { refetchInterval: 60_000, staleTime: 30_000 }

/**
 * The statistics of all tenants over the last 24 hours: by the hour, by tenant, or both. Each read makes 400 requests to
 * the table and one for each of at most 500 endpoints.
 */
export function usePipelineStats(query: { by?: 'hour'; group?: 'tenant' }) {
  return useQuery({ queryKey: ['stats', query], queryFn: () => ask(api().GET('/v1/stats', { params: { query } })), ...chart })
}

// The current hour counts as one. The API takes hours of the last 7 days, so clocks may differ by an hour.
const sinceDays = (days: number) => (days === 1 ? undefined : new Date(Date.now() - (days * 24 - 1) * 3_600_000).toISOString())

/** The statistics of an endpoint over the days, in one row. Two requests to the table. */
export function useTotals(tenant: string, endpoint: string, days: number) {
  return useQuery({
    queryKey: [tenant, 'totals', endpoint, days],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/stats', { params: { path: { tenant, endpoint }, query: { since: sinceDays(days) } } })),
    ...chart,
  })
}

/** The statistics of the tenant, or of one endpoint, by event type. As many requests as for the hours. */
export function useTypeStats(tenant: string, endpoint: string | undefined, days: number) {
  return useQuery({
    queryKey: [tenant, 'types', endpoint, days],
    queryFn: () => {
      const query = { group: 'type', since: sinceDays(days) } as const
      return endpoint
        ? ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/stats', { params: { path: { tenant, endpoint }, query } }))
        : ask(api().GET('/v1/tenants/{tenant}/stats', { params: { path: { tenant }, query } }))
    },
    ...chart,
  })
}

/** The statistics of the tenant, or of one endpoint, by the hour. An endpoint takes two requests to the table, and a tenant one for each endpoint and a few more. */
export function useHourlyStats(tenant: string, endpoint?: string, { days = 1, enabled = true } = {}) {
  return useQuery({
    queryKey: [tenant, 'stats', endpoint, days],
    queryFn: () => {
      const query = { by: 'hour', since: sinceDays(days) } as const
      return endpoint
        ? ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/stats', { params: { path: { tenant, endpoint }, query } }))
        : ask(api().GET('/v1/tenants/{tenant}/stats', { params: { path: { tenant }, query } }))
    },
    enabled,
    ...chart,
  })
}
