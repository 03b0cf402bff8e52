import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { api, ApiError, ask, type Schemas } from '../api/client'
import { count, percent } from '../format'
import { isPortal } from '../session'
import { failureOf, text } from '../text'
import { Button, Input, Select } from '../ui/controls'
import { EndpointName } from '../ui/delivery'
import { Dialog } from '../ui/dialog'
import { fromLocal, toLocal } from '../ui/filters'
import { Field, Form, numeric, type Values } from '../ui/form'
import { Data, Loading } from '../ui/states'
import { EndpointChoice } from '../ui/suggest'
import { tell } from '../ui/toast'
import { Outcome, useReplay } from './replays'

const t = text.replay
const words = isPortal ? t.portal : t.console

/** How many deliveries go first, so that a person sees what becomes of them. */
const few = 10
// Each endpoint shown takes a request for its health.
const mostShown = 8

type Filter = Schemas['ReplayFilter']
type State = NonNullable<Filter['state']>

/** What a dialog begins with. partial: the page of the dialog has filters that a job does not have. */
export type Selection = Filter & { action?: 'replay' | 'discard'; partial?: boolean }

type Props = { tenant: string; selection: Selection | null; close: () => void }

/** Chooses deliveries, counts them, and replays or discards them: all, or a few first. */
export function ReplayDialog({ tenant, selection, close }: Props) {
  const discards = selection?.action === 'discard'
  return (
    <Dialog wide title={discards ? words.discardTitle : words.title} open={selection !== null} onOpenChange={(open) => !open && close()}>
      {selection && <Flow tenant={tenant} selection={selection} close={close} />}
    </Dialog>
  )
}

/** A job of the first few, and how many deliveries the selection had. */
type First = { job: Schemas['Replay']; total: number; complete: boolean }

function Flow({ tenant, selection: { action = 'replay', partial, ...given }, close }: { tenant: string; selection: Selection; close: () => void }) {
  const navigate = useNavigate()
  const cache = useQueryClient()
  const [filter, setFilter] = useState<Filter>({ state: 'dead', ...given })
  const [rate, setRate] = useState<string>()
  const [first, setFirst] = useState<First>()
  const params = { path: { tenant } }
  const preview = useQuery({
    queryKey: [tenant, 'preview', filter],
    queryFn: async () => {
      const counted = await ask(api().POST('/v1/tenants/{tenant}/replays', { params, body: { filter, dry_run: true } }))
      if (!('sample' in counted)) throw new ApiError(500, {})
      return counted
    },
    placeholderData: (before) => before,
    refetchInterval: false,
    retry: false,
    gcTime: 0,
    staleTime: 0,
  })
  const start = async (body: Schemas['ReplayStart']) => {
    const job = await ask(api().POST('/v1/tenants/{tenant}/replays', { params, body }))
    if (!('id' in job)) throw new ApiError(500, {})
    await cache.invalidateQueries({ queryKey: [tenant] })
    return job
  }
  const startAll = async (of: Filter, expected: number, rate_per_second?: number) => {
    const job = await start({ filter: of, action, rate_per_second, expected })
    tell(action === 'discard' ? t.discarding : words.started)
    close()
    await navigate({ to: '/t/$tenant/replays/$replay', params: { tenant, replay: job.id } })
  }
  const p = preview.data
  const settled = !preview.isPlaceholderData && !preview.error
  const submit = async ({ limit, rate_per_second }: Values) => {
    if (!p || !settled) return
    // Discarding sends nothing, so it needs no rate limit.
    const pace = action === 'discard' ? 500 : rate_per_second === undefined ? undefined : numeric(rate_per_second)
    setRate(rate_per_second)
    if (!limit) return startAll(filter, p.total, pace)
    setFirst({ job: await start({ filter, limit: few, rate_per_second: pace, expected: p.total }), total: p.total, complete: p.complete })
  }
  const ids = action === 'replay' ? largest(p).map((e) => e.endpoint_id) : []
  const vain = useUnhealthy(tenant, ids).length > ids.length / 2 // most of what is sent would fail or wait
  const number = p?.complete ? count(p.total) : '' // a button shows no lower bound
  if (first) {
    return (
      <Rest tenant={tenant} of={first} close={close} rest={(left) => startAll({ ...filter, until: first.job.filter.until }, left, rate === undefined ? undefined : numeric(rate))} />
    )
  }
  return (
    <>
      <p className="soft">{action === 'discard' ? words.discardLead : words.lead}</p>
      <Form
        submit={submit}
        cancel={close}
        danger={action === 'discard'}
        plain={vain}
        disabled={!p || p.total === 0 || !settled}
        label={action === 'discard' ? t.discard(number) : p?.total === 1 && p.complete ? words.startOne : words.start(number)}
        more={
          action === 'replay' &&
          p &&
          settled &&
          (p.total > few || !p.complete) && (
            <Button type="submit" name="limit" value={few}>
              {words.few(few)}
            </Button>
          )
        }
      >
        <div className="stack" aria-live="polite" aria-busy={!settled}>
          {preview.error ? (
            <p className="notice bad" role="alert">
              {sentence(preview.error as ApiError)}
            </p>
          ) : p ? (
            <Selected tenant={tenant} of={p} filter={filter} action={action} counting={!settled} />
          ) : (
            <Loading />
          )}
          {partial && <p className="notice warn">{t.ignored}</p>}
        </div>
        <FilterFields tenant={tenant} of={filter} set={setFilter} stateFixed={action === 'discard'}>
          {action === 'replay' && !isPortal && (
            <Field name="rate_per_second" label={t.rate}>
              <Input defaultValue="50" inputMode="decimal" />
            </Field>
          )}
        </FilterFields>
      </Form>
    </>
  )
}

// The API names a field by its path, such as filter.until.
function sentence(e: ApiError): string {
  const labels: Record<string, string> = { since: t.since, until: t.until, event_types: t.types, status: t.status, class: t.cause, state: t.state, died_since: words.diedSince, endpoint: t.endpoint }
  const named = Object.entries(e.fields).map(([field, message]) => `${labels[/^filter\.(\w+)/.exec(field)?.[1] ?? ''] ?? field} ${message.replace(/filter\.(\w+)/g, (path, name: string) => labels[name] ?? path)}`)
  return named.length > 0 ? named.join('; ') : failureOf(e)
}

type FilterProps = { tenant: string; of: Filter; set: (next: Filter) => void; stateFixed: boolean; children?: ReactNode }

const any = 'any'

function FilterFields({ tenant, of: f, set, stateFixed, children }: FilterProps) {
  const change = (part: Partial<Filter>) => {
    const next = { ...f, ...part }
    if (next.state !== 'dead') delete next.died_since
    if (next.class === 'none') delete next.status
    set(next)
  }
  // Enter counts again, and does not start the job.
  const enter = (e: KeyboardEvent<HTMLInputElement>) => {
    if (e.key !== 'Enter') return
    e.preventDefault()
    e.currentTarget.blur()
  }
  const time = (name: 'since' | 'until' | 'died_since', label: string) => (
    <Field name={`filter.${name}`} label={label}>
      <Input type="datetime-local" defaultValue={toLocal(f[name])} onKeyDown={enter} onBlur={(e) => e.currentTarget.value !== toLocal(f[name]) && change({ [name]: fromLocal(e.currentTarget.value) })} />
    </Field>
  )
  const choice = (label: string, value: string, options: { value: string; label: string }[], pick: (v: string) => void) => (
    <div className="field">
      <span className="label">{label}</span>
      <Select label={label} value={value} options={options} onChange={pick} />
    </div>
  )
  const causes = Object.entries(text.classes).filter(([name]) => f.state === 'delivered' || name !== 'delivered')
  return (
    <fieldset className="plain stack">
      <legend>
        <h3>{t.filter}</h3>
      </legend>
      <div className="pair">
        <EndpointChoice tenant={tenant} name="filter.endpoint" label={t.endpoint} value={f.endpoint} placeholder={t.anyEndpoint} choose={(v) => change({ endpoint: v || undefined })} />
        {!stateFixed && choice(t.state, f.state ?? 'dead', Object.entries(words.states).map(([value, label]) => ({ value, label })), (v) => change({ state: v as State }))}
        {choice(t.cause, f.class ?? any, [{ value: any, label: text.any }, ...causes.map(([value, label]) => ({ value, label }))], (v) => change({ class: v === any ? undefined : (v as NonNullable<Filter['class']>) }))}
        {f.class !== 'none' && (
          <Field name="filter.status" label={t.status}>
            <Input
              key={f.status ?? ''}
              defaultValue={f.status ?? ''}
              placeholder={text.any}
              inputMode="numeric"
              onKeyDown={enter}
              onBlur={(e) => e.currentTarget.value !== String(f.status ?? '') && change({ status: e.currentTarget.value.trim() === '' ? undefined : numeric(e.currentTarget.value) })}
            />
          </Field>
        )}
      </div>
      <div className="pair">
        <Field name="filter.event_types" label={t.types} help={t.typesHelp}>
          <Input
            defaultValue={f.event_types?.join(' ')}
            onKeyDown={enter}
            onBlur={(e) => {
              const types = e.currentTarget.value.split(/[\s,]+/).filter(Boolean)
              if (types.join(' ') !== (f.event_types ?? []).join(' ')) change({ event_types: types.length > 0 ? types : undefined })
            }}
          />
        </Field>
        {children}
      </div>
      <div className="pair">
        {time('since', t.since)}
        {time('until', t.until)}
        {(f.state ?? 'dead') === 'dead' && time('died_since', words.diedSince)}
      </div>
    </fieldset>
  )
}

type Preview = Schemas['ReplayPreview']

/** The endpoints with the most deliveries of the selection. */
const largest = (p?: Preview) => [...(p?.by_endpoint ?? [])].sort((a, b) => b.count - a.count).slice(0, mostShown)

/** How many deliveries, to which endpoints, and which of these cannot take them now. */
function Selected({ tenant, of: p, filter, action, counting }: { tenant: string; of: Preview; filter: Filter; action: 'replay' | 'discard'; counting: boolean }) {
  if (counting) return <p className="notice">{t.counting}</p>
  if (p.total === 0) return <p className="notice">{words.nothing}</p>
  const total = p.complete ? count(p.total) : t.atLeast(count(p.total))
  const sentenceOf = action === 'discard' ? t.toDiscard : words.selected
  const said = sentenceOf(total, p.total === 1, t.endpoints(p.by_endpoint.length))
  const shown = largest(p)
  return (
    <>
      <p className="notice">
        <strong>{said[0]?.toUpperCase() + said.slice(1)}</strong>
      </p>
      <ul className="stack tight">
        {shown.map((e) => (
          <li key={e.endpoint_id} className="row">
            <EndpointName tenant={tenant} id={e.endpoint_id} /> <span className="soft number">{p.complete ? count(e.count) : t.atLeast(count(e.count))}</span>
          </li>
        ))}
        {p.by_endpoint.length > mostShown && <li className="soft">{t.more(p.by_endpoint.length - mostShown)}</li>}
      </ul>
      {action === 'replay' && <Unhealthy tenant={tenant} ids={shown.map((e) => e.endpoint_id)} />}
      {(filter.state ?? 'dead') === 'dead' && <p className="soft small">{words.openNote}</p>}
    </>
  )
}

/** The endpoints that cannot take the deliveries now, and why. */
function useUnhealthy(tenant: string, ids: string[]) {
  const health = useQueries({
    queries: ids.map((endpoint) => ({
      queryKey: [tenant, 'health', endpoint],
      queryFn: () => ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}/health', { params: { path: { tenant, endpoint } } })),
      staleTime: 10_000,
    })),
  })
  return health.flatMap(({ data }) => {
    const why = data && reasonOf(data)
    return why ? [{ id: data.endpoint_id, why }] : []
  })
}

function Unhealthy({ tenant, ids }: { tenant: string; ids: string[] }) {
  const warnings = useUnhealthy(tenant, ids)
  if (warnings.length === 0) return null
  return (
    <ul className="notice warn stack tight">
      {warnings.map((w) => (
        <li key={w.id}>
          <EndpointName tenant={tenant} id={w.id} /> {w.why}
        </li>
      ))}
    </ul>
  )
}

function reasonOf(h: Schemas['EndpointHealth']): string | undefined {
  if (h.status === 'paused') return words.unhealthy.paused
  if (h.status === 'disabled') return words.unhealthy.disabled
  if (h.circuit_state.state !== 'closed') return words.unhealthy.open
  const { attempts, success_rate } = h.windows['1h']
  return attempts > 0 && success_rate !== undefined && success_rate < 0.5 ? words.unhealthy.failing(percent(success_rate)) : undefined
}

/** What became of the first few, and the button for the rest. */
function Rest({ tenant, of: { job, total, complete }, rest, close }: { tenant: string; of: First; rest: (left: number) => Promise<unknown>; close: () => void }) {
  const read = useReplay(tenant, job.id)
  const ended = read.data !== undefined && read.data.state !== 'running'
  const left = Math.max(0, total - (read.data?.selected ?? few))
  const number = complete ? count(left) : ''
  return (
    <>
      <h3>{t.firstTitle(few)}</h3>
      <Data of={read}>{(r) => <Outcome of={r} />}</Data>
      <Link className="soft" to="/t/$tenant/replays/$replay" params={{ tenant, replay: job.id }} onClick={close}>
        {words.job}
      </Link>
      <Form submit={() => rest(left)} label={words.rest(number)} cancel={close} cancelLabel={t.done} disabled={!ended || (complete && left === 0)}>
        {null}
      </Form>
    </>
  )
}
