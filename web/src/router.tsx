import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { Overview } from './pages/overview'
import { Tenants } from './pages/tenants'
import { isPortal, mode, session } from './session'
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
  beforeLoad: () => {
    const tenant = session()?.tenant
    if (tenant) throw redirect({ to: '/t/$tenant', params: { tenant }, replace: true })
  },
})
const tenants = createRoute({ getParentRoute: () => root, path: '/tenants', component: Tenants, validateSearch: texts('prefix', 'cursor') })
const tenant = createRoute({ getParentRoute: () => root, path: '/t/$tenant', component: () => null })

export const router = createRouter({
  routeTree: root.addChildren(isPortal ? [overview, tenant] : [overview, tenants, tenant]),
  basepath: `/${mode}`,
  // Filters in the URL are plain text: people read, change and share them.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, v]) => v !== undefined && v !== '')
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
