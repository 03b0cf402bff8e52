import { createRootRoute, createRoute, createRouter, notFound, redirect } from '@tanstack/react-router'
import { Changes } from './pages/changes'
import { DeadLetters } from './pages/dead-letters'
import { Deliveries } from './pages/deliveries'
import { EndpointPage } from './pages/endpoint'
import { NewEndpoint } from './pages/endpoint-form'
import { Endpoints } from './pages/endpoints'
import { Event } from './pages/event'
import { Events } from './pages/events'
import { Failures } from './pages/failures'
import { EventTypePage, NewEventType } from './pages/event-type'
import { EventTypes, mayChangeTypes } from './pages/event-types'
import { Keys } from './pages/keys'
import { Overview } from './pages/overview'
import { Rejects } from './pages/rejects'
import { ReplayPage, Replays } from './pages/replays'
import { TenantOverview } from './pages/tenant'
import { Tenants } from './pages/tenants'
import { isPortal, may, mode, type Scope, session } from './session'
import { Failure } from './ui/states'
import { Shell } from './ui/shell'
import { ApiError } from './api/client'

type Search = Record<string, unknown>
const texts =
  <K extends string>(...names: K[]) =>
  (search: Search): { [N in K]?: string } =>
    Object.fromEntries(names.filter((n) => typeof search[n] === 'string' && search[n] !== '').map((n) => [n, search[n]])) as { [N in K]?: string }

const root = createRootRoute({ component: Shell, notFoundComponent: () => <Failure error={new ApiError(404, { detail: '' })} /> })

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: Overview,
  validateSearch: texts('hour', 'part', 'sort'),
  beforeLoad: () => {
    const tenant = session()?.tenant
    if (tenant) throw redirect({ to: '/t/$tenant', params: { tenant }, replace: true })
    if (!isPortal && !may('admin')) throw redirect({ to: '/tenants', replace: true })
  },
})
// Pages whose requests the API refuses: of the key of a portal link, or of a person's role.
const needs = (scope: Scope) => () => {
  if (!may(scope)) throw notFound()
}
const tenants = createRoute({ getParentRoute: () => root, path: '/tenants', component: Tenants, beforeLoad: needs('tenants:read'), validateSearch: texts('prefix', 'cursor', 'sort') })
const tenant = createRoute({ getParentRoute: () => root, path: '/t/$tenant', component: TenantOverview, validateSearch: texts('days') })
const list = texts('state', 'endpoint', 'event_type', 'status_class', 'failed_attempt', 'idempotency_key', 'since', 'until', 'cursor')
const deliveries = createRoute({ getParentRoute: () => root, path: '/t/$tenant/deliveries', component: Deliveries, validateSearch: list })
const events = createRoute({ getParentRoute: () => root, path: '/t/$tenant/events', component: Events, validateSearch: texts('event_type', 'idempotency_key', 'since', 'until', 'cursor') })
const event = createRoute({
  getParentRoute: () => root,
  path: '/t/$tenant/events/$event',
  component: Event,
  // An empty text means that all are closed.
  validateSearch: (search: Search): { delivery?: string; cursor?: string } => ({ ...texts('cursor')(search), ...(typeof search.delivery === 'string' && { delivery: search.delivery }) }),
})

const keys = createRoute({ getParentRoute: () => root, path: '/keys', component: Keys, beforeLoad: needs('admin'), validateSearch: texts('cursor') })
const failures = createRoute({ getParentRoute: () => root, path: '/failures', component: Failures, beforeLoad: needs('admin'), validateSearch: texts('since', 'until', 'cursor') })
const rejects = createRoute({ getParentRoute: () => root, path: '/rejects', component: Rejects, beforeLoad: needs('admin') })
const types = createRoute({ getParentRoute: () => root, path: '/event-types', component: EventTypes, validateSearch: texts('group', 'archived', 'cursor') })
const type = createRoute({ getParentRoute: () => root, path: '/event-types/$type', component: EventTypePage })
const newType = createRoute({
  getParentRoute: () => root,
  path: '/new-event-type',
  component: NewEventType,
  beforeLoad: () => {
    if (!mayChangeTypes()) throw notFound()
  },
})
const endpoints = createRoute({ getParentRoute: () => root, path: '/t/$tenant/endpoints', component: Endpoints, validateSearch: texts('search', 'all', 'signed_by') })
const newEndpoint = createRoute({ getParentRoute: () => root, path: '/t/$tenant/new-endpoint', component: NewEndpoint, beforeLoad: needs('endpoints:write') })
const endpoint = createRoute({
  getParentRoute: () => root,
  path: '/t/$tenant/endpoints/$endpoint',
  component: EndpointPage,
  validateSearch: texts('tab', 'days', 'state', 'event_type', 'status_class', 'failed_attempt', 'idempotency_key', 'since', 'until', 'cursor'),
})
const deadLetters = createRoute({ getParentRoute: () => root, path: '/t/$tenant/dead-letters', component: DeadLetters, validateSearch: texts('period') })
const replays = createRoute({ getParentRoute: () => root, path: '/t/$tenant/replays', component: Replays, beforeLoad: needs('replay'), validateSearch: texts('cursor') })
const replay = createRoute({ getParentRoute: () => root, path: '/t/$tenant/replays/$replay', component: ReplayPage, beforeLoad: needs('replay') })
const changes = createRoute({ getParentRoute: () => root, path: '/t/$tenant/changes', component: Changes, beforeLoad: needs('audit'), validateSearch: texts('action', 'key', 'target', 'since', 'until', 'cursor') })


export const router = createRouter({
  routeTree: root.addChildren([overview, tenant, endpoints, newEndpoint, endpoint, deliveries, events, event, deadLetters, replays, replay, tenants, failures, keys, rejects, changes, types, type, newType]),
  basepath: `/${mode}`,
  // Filters in the URL are plain text: people read, change and share them.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, v]) => v !== undefined)
    return given.length ? `?${new URLSearchParams(given.map(([k, v]) => [k, String(v)]))}` : ''
  },
  defaultPreload: false,
  scrollRestoration: false,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
