import { Collapsible } from '@base-ui/react/collapsible'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { useEgress, useTenant } from '../api/reads'
import { isPortal, may } from '../session'
import { text } from '../text'
import { CheckBox, Input, Select, TextArea } from '../ui/controls'
import { Field, Form, numeric, type Values } from '../ui/form'
import { Card, Page } from '../ui/page'
import { SecretDialog } from '../ui/secret'
import { tell } from '../ui/toast'
import { AuthFields, authOf } from './endpoint-auth'
import { CoalesceFields, coalesceOf } from './endpoint-coalesce'
import { ProfileFields, ShapeFields, shapeOf } from './endpoint-shape'
import { TLSFields, tlsOf } from './endpoint-tls'
import { TypesField } from './endpoint-types'
import { VerifySamples } from './endpoint-verify'

const t = text.form

type Fields = Schemas['EndpointFields']
type Endpoint = Schemas['Endpoint']
type Destination = Schemas['Destination']
type Choice = 'standard' | 'minute' | 'exponential' | 'day' | 'schedule' | 'keep'

export function NewEndpoint() {
  const tenant = useTenant()
  const navigate = useNavigate()
  const cache = useQueryClient()
  const [made, setMade] = useState<Schemas['EndpointWithSecret'] | null>(null)
  const create = async (fields: Fields) => {
    const body = fields as Schemas['EndpointCreate']
    setMade(await ask(api().POST('/v1/tenants/{tenant}/endpoints', { params: { path: { tenant } }, body })))
    await cache.invalidateQueries({ queryKey: [tenant] })
  }
  return (
    <Page
      title={text.endpoints.create}
      crumbs={[
        <Link to="/t/$tenant/endpoints" params={{ tenant }}>
          {text.endpoints.title}
        </Link>,
        text.endpoints.create,
      ]}
    >
      <SecretDialog
        title={text.endpoint.secretTitle}
        note={text.endpoint.secretText}
        secret={made?.secret ?? null}
        done={() => {
          const endpoint = made?.id ?? ''
          setMade(null)
          void navigate({ to: '/t/$tenant/endpoints/$endpoint', params: { tenant, endpoint } })
        }}
      >
        {made && <VerifySamples of={made} />}
      </SecretDialog>
      <EndpointForm submit={create} label={t.create} />
    </Page>
  )
}

/** The form with the endpoint as it was at the begin: a change by another in the meantime is a refusal, not lost input. */
export function EndpointSettings({ tenant, of }: { tenant: string; of: Endpoint }) {
  const cache = useQueryClient()
  const [e, setBase] = useState(of)
  const save = async (fields: Fields) => {
    const params = { path: { tenant, endpoint: e.id }, header: { 'If-Match': `"${e.version}"` } }
    setBase(await ask(api().PATCH('/v1/tenants/{tenant}/endpoints/{endpoint}', { params, body: fields })))
    tell(t.saved)
    await cache.invalidateQueries({ queryKey: [tenant] })
  }
  return <EndpointForm key={e.version} of={e} submit={save} label={text.save} />
}

function choiceOf(e?: Endpoint): Choice {
  if (!e) return 'standard'
  return e.retry.preset ?? (e.retry.schedule ? 'schedule' : 'keep')
}

/** The form of an endpoint. A new endpoint in the portal needs a URL and events; all else is folded away. */
function EndpointForm({ of: e, submit, label }: { of?: Endpoint; submit: (fields: Fields) => Promise<void>; label: string }) {
  const [retry, setRetry] = useState<Choice>(choiceOf(e))
  const [autoDisable, setAutoDisable] = useState(e?.auto_disable ?? true)
  const [recordHeaders, setRecordHeaders] = useState(e?.record_headers ?? false)
  const [moved, setMoved] = useState(false) // to another origin: the API keeps no secret for it
  const [asks, setAsks] = useState(!e) // another URL: the API may ask its receiver
  const tenant = useTenant()
  const places = useEgress(tenant).data
  const addresses = places?.addresses ?? []
  // The stored region can still be chosen if the deployment no longer has it.
  const regions = [...new Set([...(places?.regions ?? []), ...(e?.region ? [e.region] : [])])]
  const offered = { shared: true, fixed: addresses.length > 0, private: places?.private && may('private') }
  const egresses = (['shared', 'fixed', 'private'] as const).filter((value) => offered[value] || value === e?.egress)
  const [destination, setDestination] = useState<Destination['type']>(e?.destination?.type ?? 'http')
  const to = t.destinations[destination]
  const retries = (Object.keys(t.retries) as Choice[]).filter((c) => c !== 'keep' || choiceOf(e) === 'keep')
  const destinations = (places?.destinations || e?.destination) && (
    <>
      <Field name="destination.type" label={t.destination}>
        <Select label={t.destination} value={destination} onChange={setDestination} options={(Object.keys(t.destinations) as Destination['type'][]).map((value) => ({ value, label: t.destinations[value].label }))} />
      </Field>
      {destination !== 'http' && (
        <Field name="destination.role_arn" label={t.roleARN} help={t.roleHelp(places?.destinations?.role_path ?? '', places?.destinations?.principal ?? '', e?.destination?.external_id)}>
          <Input defaultValue={e?.destination?.role_arn} />
        </Field>
      )}
      {settingsOf(destination).map((name) => (
        <Field key={name} name={`destination.${name}`} label={to.settings?.[name] ?? name}>
          <Input defaultValue={e?.destination?.[name]} />
        </Field>
      ))}
    </>
  )
  const short = isPortal && !e
  const about = (
    <div className="pair">
      {!e && (
        <Field name="uid" label={t.uid} help={t.uidHelp}>
          <Input />
        </Field>
      )}
      <Field name="description" label={t.description}>
        <Input defaultValue={e?.description} />
      </Field>
    </div>
  )
  const rest = (
    <>
      <Section title={t.sections.retries}>
        <div className="pair">
          <Field name="retry" label={t.retry}>
            <Select label={t.retry} value={retry} onChange={setRetry} options={retries.map((value) => ({ value, label: t.retries[value] ?? value }))} />
          </Field>
          {retry === 'schedule' && (
            <Field name="retry.schedule" label={t.schedule} help={t.scheduleHelp}>
              <Input defaultValue={e?.retry.schedule?.join(' ') ?? '30s 5m 1h'} />
            </Field>
          )}
          <Field name="max_age" label={t.maxAge}>
            <Input defaultValue={e?.max_age ?? '72h'} />
          </Field>
          <Field name="timeout" label={t.timeout}>
            <Input defaultValue={e?.timeout ?? '10s'} />
          </Field>
          <Field name="max_retry_after" label={t.maxRetryAfter} help={t.maxRetryAfterHelp}>
            <Input defaultValue={e?.max_retry_after ?? '1h'} />
          </Field>
          <Field name="retry_on" label={t.retryOn} help={t.statusesHelp}>
            <Input defaultValue={e?.retry_on.join(' ')} placeholder="401 404" />
          </Field>
          <Field name="give_up_on" label={t.giveUpOn} help={t.statusesHelp}>
            <Input defaultValue={e?.give_up_on.join(' ')} placeholder="501" />
          </Field>
          <Field name="ordered" label={t.order}>
            <Select label={t.order} defaultValue={orderOf(e)} options={(['any', 'block', 'skip'] as const).map((value) => ({ value, label: t.orders[value] }))} />
          </Field>
        </div>
        <CheckBox checked={autoDisable} onChange={setAutoDisable}>
          {t.autoDisable}
        </CheckBox>
        {!isPortal && (
          <CheckBox checked={recordHeaders} onChange={setRecordHeaders}>
            {t.recordHeaders}
          </CheckBox>
        )}
      </Section>
      <Section title={t.sections.limits}>
        <div className="pair">
          <Field name="rate_per_second" label={t.rate} help={t.rateHelp}>
            <Input defaultValue={e?.rate_per_second ?? 0} inputMode="decimal" />
          </Field>
          <Field name="max_in_flight" label={t.inFlight} help={t.rateHelp}>
            <Input defaultValue={e?.max_in_flight ?? 0} inputMode="numeric" />
          </Field>
          {!isPortal && (
            <>
              <Field name="circuit.failures" label={`${t.circuit}: ${t.circuitFailures.toLowerCase()}`}>
                <Input defaultValue={e?.circuit.failures ?? 5} inputMode="numeric" />
              </Field>
              <Field name="circuit.cooldown" label={`${t.circuit}: ${t.cooldown.toLowerCase()}`}>
                <Input defaultValue={e?.circuit.cooldown ?? '10s'} />
              </Field>
            </>
          )}
        </div>
        <CoalesceFields of={e?.coalesce} />
      </Section>
      <Section title={t.sections.request}>
        {(destination === 'http' || e) && <ProfileFields of={e} profiles={places?.signature_profiles} />}
        <ShapeFields of={e} tenant={tenant} />
        <Field name="headers" label={t.headers} help={moved ? t.headersMoved : t.headersHelp}>
          <TextArea
            rows={3}
            defaultValue={Object.entries(e?.headers ?? {})
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
          />
        </Field>
      </Section>
      <Section title={t.sections.access}>
        <AuthFields of={e?.auth} moved={moved} />
        <TLSFields of={e?.tls} moved={moved} />
        <div className="pair">
          {regions.length > 0 && (
            <Field name="region" label={t.region}>
              <Select label={t.region} defaultValue={e?.region || own} options={[{ value: own, label: t.ownRegion }, ...regions.map((r) => ({ value: r, label: r }))]} />
            </Field>
          )}
          {egresses.length > 1 && (
            <Field name="egress" label={t.egress} help={addresses.length > 0 ? t.addresses(addresses) : undefined}>
              <Select label={t.egress} defaultValue={e?.egress ?? 'shared'} options={egresses.map((value) => ({ value, label: t.egresses[value] }))} />
            </Field>
          )}
        </div>
      </Section>
    </>
  )
  const filter = (
    <Field name="filter" label={t.filter} help={t.filterHelp}>
      <TextArea rows={3} defaultValue={filterText(e)} />
    </Field>
  )
  return (
    <Card pad>
      <Form submit={(values) => submit({ ...fieldsOf(values, autoDisable, e), ...(!isPortal && { record_headers: recordHeaders }) })} label={label} inSight>
        {!short && destinations}
        <Field name="url" label={t.url} help={to.help ?? (moved && hasSecrets(e) ? t.urlMoved : t.urlHelp)}>
          <Input
            defaultValue={e?.url}
            placeholder="https://example.com/webhooks"
            inputMode="url"
            onChange={(change) => {
              setMoved(!!e && originOf(change.target.value) !== originOf(e.url))
              setAsks(change.target.value.trim() !== e?.url)
            }}
          />
        </Field>
        {places?.url_verification && asks && destination === 'http' && <Challenge />}
        {!short && about}
        <TypesField of={e?.event_types} />
        {e ? (
          <>
            {filter}
            {rest}
          </>
        ) : (
          <Collapsible.Root className="stack">
            <Collapsible.Trigger className="button quiet fold">
              <ChevronRight size={14} aria-hidden /> {t.advanced}
            </Collapsible.Trigger>
            <Collapsible.Panel className="stack" keepMounted>
              {short && destinations}
              {short && about}
              {filter}
              {rest}
            </Collapsible.Panel>
          </Collapsible.Root>
        )}
      </Form>
    </Card>
  )
}

/** Settings that belong together. */
function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="section">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

/** How the receiver confirms the URL before the endpoint is saved. */
function Challenge() {
  return (
    <Collapsible.Root className="notice">
      <p>{t.challenge}</p>
      <Collapsible.Trigger className="button quiet fold">
        <ChevronRight size={14} aria-hidden /> {t.challengeMore}
      </Collapsible.Trigger>
      <Collapsible.Panel className="stack tight">
        <p className="soft">{t.challengeText}</p>
        <pre className="code wrap" tabIndex={0} aria-label={t.challengeMore}>
          {challenge}
        </pre>
      </Collapsible.Panel>
    </Collapsible.Root>
  )
}

const challenge = `POST
{"type": "webhook.challenge", "timestamp": "2026-11-21T09:30:00.000Z", "data": {"challenge": "K7QX…"}}

200 OK
{"challenge": "K7QX…"}`

// The origin as the API compares it; for a text that is not a URL, the text itself.
function originOf(url: string): string {
  return URL.canParse(url.trim()) ? new URL(url.trim()).origin : url.trim()
}

const hasSecrets = (e?: Endpoint) => !!e && (Object.keys(e.headers).length > 0 || e.auth.type !== 'none' || !!e.tls?.key)

// One choice for two fields: without order, nothing is held up by a failure.
const orderOf = (e?: Endpoint) => (e?.ordered ? e.on_failure : 'any')

// A select has no empty value, but the API means the deployment's own region by an empty text.
const own = 'own'

const lines = (value: string) => value.split('\n').map((l) => l.trim()).filter(Boolean)

// An unchanged text is not sent: JavaScript writes 300.0 as 300, and a filter tells them apart.
const filterText = (e?: Endpoint) => (e && Object.keys(e.filter).length ? JSON.stringify(e.filter, null, 2) : '')

// A text that is not JSON is sent unchanged, so that the API says what is wrong.
function json(value: string): Record<string, unknown> {
  if (!value.trim()) return {}
  try {
    return JSON.parse(value) as Record<string, unknown>
  } catch {
    return value as unknown as Record<string, unknown>
  }
}

const statuses = (value: string) => value.split(/[\s,]+/).filter(Boolean).map(numeric)

function fieldsOf(v: Values, autoDisable: boolean, of?: Endpoint): Fields {
  const headers = Object.fromEntries(
    lines(v.headers ?? '').map((line) => {
      const colon = line.indexOf(':')
      return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
  )
  // An empty text removes a header that is no longer named.
  for (const name of Object.keys(of?.headers ?? {})) headers[name] ??= ''
  const auth = authOf(v, of?.auth)
  const tls = tlsOf(v, of?.tls)
  const coalesce = coalesceOf(v, of?.coalesce)
  const retry = retryOf(v, of)
  const egress = v.egress as Fields['egress']
  const region = v.region === own ? '' : v.region
  return {
    url: (v.url ?? '').trim(),
    ...(v.uid?.trim() && { uid: v.uid.trim() }),
    description: v.description ?? '',
    event_types: lines(v.event_types ?? ''),
    ...((v.filter ?? '') !== filterText(of) && { filter: json(v.filter ?? '') }),
    ...(retry && { retry }),
    retry_on: statuses(v.retry_on ?? ''),
    give_up_on: statuses(v.give_up_on ?? ''),
    timeout: (v.timeout ?? '').trim(),
    max_age: (v.max_age ?? '').trim(),
    max_retry_after: (v.max_retry_after ?? '').trim(),
    rate_per_second: numeric(v.rate_per_second ?? ''),
    max_in_flight: numeric(v.max_in_flight ?? ''),
    ...(v.ordered !== orderOf(of) && (v.ordered === 'any' ? { ordered: false } : { ordered: true, on_failure: v.ordered as Endpoint['on_failure'] })),
    ...(v['circuit.failures'] !== undefined && { circuit: { failures: numeric(v['circuit.failures']), cooldown: (v['circuit.cooldown'] ?? '').trim() } }),
    headers,
    ...(auth && { auth }),
    ...(tls && { tls }),
    ...(coalesce && { coalesce }),
    auto_disable: autoDisable,
    ...shapeOf(v),
    ...(region !== undefined && region !== (of?.region ?? '') && { region }),
    ...destinationOf(v, of),
    ...(egress !== undefined && egress !== (of?.egress ?? 'shared') && { egress }),
  }
}

const settingsOf = (type: Destination['type']) => Object.keys(t.destinations[type].settings ?? {}) as Exclude<keyof Destination, 'type' | 'role_arn'>[]

function destinationOf(v: Values, of?: Endpoint): Pick<Fields, 'destination'> {
  const type = v['destination.type'] as Destination['type'] | undefined
  if (!type) return {}
  const names = [...(type === 'http' ? [] : (['role_arn'] as const)), ...settingsOf(type)]
  const settings = Object.fromEntries(names.map((name) => [name, v[`destination.${name}`]?.trim() ?? '']))
  const before = of?.destination
  if (type === (before?.type ?? 'http') && names.every((name) => settings[name] === (before?.[name] ?? ''))) return {}
  return { destination: { type, ...settings } }
}

function retryOf(v: Values, of?: Endpoint): Fields['retry'] {
  const choice = v.retry as Choice
  if (choice === 'keep') return undefined
  if (choice !== 'schedule') return { preset: choice }
  const jitter = of?.retry.schedule && of.retry.jitter
  return { ...(jitter && { jitter }), schedule: (v['retry.schedule'] ?? '').split(/[\s,]+/).filter(Boolean) }
}
