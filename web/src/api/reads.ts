import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { fieldOf } from '../json'
import { api, ask, type Schemas } from './client'

export type Delivery = Schemas['Delivery']
export type Endpoint = Schemas['Endpoint']

/** The tenant of the page. */
export function useTenant(): string {
  return useParams({ strict: false }).tenant ?? ''
}

/** The first hundred endpoints of the tenant. */
export function useEndpoints(tenant: string) {
  return useQuery({
    queryKey: [tenant, 'endpoints'],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/endpoints', { params: { path: { tenant }, query: { limit: 100 } } })),
    staleTime: 15_000,
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
export function nameOf(e: Pick<Endpoint, 'id' | 'uid' | 'url'>): string {
  return e.uid || e.url.replace(/^https?:\/\//, '') || e.id
}

// Statistics change by the hour, so a minute is soon enough for a chart.
const chart = { refetchInterval: 60_000, staleTime: 30_000 }

/** The statistics of all tenants over the last 24 hours: by the hour, or by tenant. */
export function usePipelineStats(query: { by: 'hour' } | { group: 'tenant' }) {
  return useQuery({ queryKey: ['stats', query], queryFn: () => ask(api().GET('/v1/stats', { params: { query } })), ...chart })
}

/** The statistics of the tenant, or of one endpoint, by the hour. */
export function useHourlyStats(tenant: string, endpoint?: string) {
  const query = { by: 'hour' } as const
  return useQuery({
    queryKey: [tenant, 'stats', endpoint],
    queryFn: () =>
      endpoint
        ? ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/stats', { params: { path: { tenant, endpoint }, query } }))
        : ask(api().GET('/v1/tenants/{tenant}/stats', { params: { path: { tenant }, query } })),
    ...chart,
  })
}
