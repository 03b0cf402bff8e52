import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
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

/** The name of an endpoint for people: the alias, or the host and path. */
export function nameOf(e: Pick<Endpoint, 'id' | 'uid' | 'url'>): string {
  return e.uid || e.url.replace(/^https?:\/\//, '') || e.id
}
