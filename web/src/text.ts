import type { ApiError } from './api/client'
import { count } from './format'

// All texts of the console and the portal, in one place for translation.
export const text = {
  brand: 'Surehook',
  portal: 'Webhooks',
  crumbs: 'Breadcrumb',
  copy: 'Copy',
  copied: 'Copied',
  close: 'Close',
  keep: 'Cancel',
  undo: 'Undo',
  again: 'Try again',
  loading: 'Loading',
  stale: 'The last update failed. You see older data.',
  skip: 'Skip to content',
  more: 'Next page',
  first: 'First page',
  all: 'All',
  any: 'Any',
  save: 'Save changes',
  actions: 'Actions',
  none: 'None',
  yes: 'Yes',
  no: 'No',

  failures: {
    title: (e: ApiError) =>
      e.status === 404 ? 'Not found' : e.status === 401 ? 'The key was not accepted' : e.status === 403 ? 'The key does not permit this' : e.status === 0 ? 'No connection' : 'Something went wrong',
    offline: 'The API cannot be reached. Check the connection.',
    throttled: 'Too many requests. Wait a moment, then try again.',
    internal: 'Surehook could not answer. Try again; if this stays, look at the logs of the functions.',
    unauthorized: 'The key is wrong, was revoked, or has expired.',
    expired: 'This link has expired or was revoked. Open the portal again from where you came.',
  },

  signIn: {
    title: 'Sign in to the console',
    lead: 'With an API key of your deployment. The key stays in this tab.',
    key: 'API key',
    keyHelp: 'A key for all tenants with the scope admin shows everything.',
    tenant: 'Tenant',
    tenantHelp: 'Only for a key of one tenant.',
    submit: 'Sign in',
    out: 'Sign out',
    theme: { system: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark' },
    portalTitle: 'This link is no longer valid',
  },

  nav: {
    label: 'Main',
    overview: 'Overview',
    tenants: 'Tenants',
    keys: 'API keys',
    tenant: 'Tenant',
    endpoints: 'Endpoints',
    events: 'Events',
    deliveries: 'Deliveries',
    dead: 'Dead letters',
    replays: 'Replays',
    audit: 'Changes',
  },

  states: {
    queued: 'Queued',
    retrying: 'Retrying',
    parked: 'Parked',
    delivered: 'Delivered',
    dead: 'Dead',
    discarded: 'Discarded',
    cancelled: 'Cancelled',
  } as Record<string, string>,

  overview: {
    title: 'Overview',
    needs: 'Needs a person',
    calm: 'Nothing needs a person now',
    calmText: 'Deliveries flow, no circuit is open, and there are no dead letters.',
    delivered: 'Delivered',
    failed: 'Failed attempts',
    died: 'Died',
    since: 'in this and the last clock hour',
    queued: 'Queued',
    retrying: 'Retrying',
    parked: 'Parked',
    dead: 'Dead letters',
    oldest: 'Oldest waiting',
    circuits: 'Open circuits',
    mean: 'Mean time to delivery',
    queues: 'Queues',
    queue: 'Queue',
    visible: 'Ready',
    inFlight: 'In flight',
    delayed: 'Delayed',
    lower: 'The counts are lower bounds: there is more than one request can count.',
    tenants: 'Tenants',
    needUndeliverable: (n: number) => `${count(n)} ${n === 1 ? 'message' : 'messages'} in the queue undeliverable`,
    needUndeliverableText: 'Surehook could not process its own message. The runbook says how to read and redrive it.',
    needDead: (n: number) => `${count(n)} dead ${n === 1 ? 'letter' : 'letters'}`,
    needDeadText: 'Deliveries that ended without success. Mend the cause, then replay or discard them.',
    needCircuits: (n: number) => `${count(n)} open ${n === 1 ? 'circuit' : 'circuits'}`,
    needCircuitsText: 'Endpoints that fail. Surehook probes them, and parks their deliveries until a probe succeeds.',
    needOldest: 'A delivery waits for more than an hour',
    look: 'Look',
    byTenant: 'Open a tenant to see which.',
  },

  tenants: {
    title: 'Tenants',
    lead: 'Customers of yours, known from their first endpoint or event.',
    id: 'Tenant',
    endpoints: 'Endpoints',
    limits: 'Limits',
    noLimits: 'No limits',
    prefix: 'Begins with',
    empty: 'No tenants yet',
    emptyText: 'A tenant appears with its first endpoint or event. Open a tenant by its id to create an endpoint.',
    open: 'Open',
    openTenant: 'Open a tenant',
  },
}

/** The sentence for a failure: the API's own, or a text for failures without one. */
export function failureOf(e: ApiError): string {
  if (e.code === 'offline') return text.failures.offline
  if (e.status === 401) return text.failures.unauthorized
  return e.message || (e.status === 429 ? text.failures.throttled : text.failures.internal)
}
