import { Collapsible } from '@base-ui/react/collapsible'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { api, ApiError, ask, type Schemas } from '../api/client'
import { useEgress, useTenant } from '../api/reads'
import { failureOf, text } from '../text'
import { Button, CheckBox, Field, Form, Input, Select, TextArea } from '../ui/controls'
import { Card, Page } from '../ui/page'
import { SecretDialog } from '../ui/secret'
import { tell } from '../ui/toast'

const t = text.form

type Fields = Schemas['EndpointFields']
type Endpoint = Schemas['Endpoint']
type Values = Record<string, string>
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
      />
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

function EndpointForm({ of: e, submit, label }: { of?: Endpoint; submit: (fields: Fields) => Promise<void>; label: string }) {
  const [retry, setRetry] = useState<Choice>(choiceOf(e))
  const [signature, setSignature] = useState<'standard' | 'classic'>(e?.signature_headers ?? 'standard')
  const [autoDisable, setAutoDisable] = useState(e?.auto_disable ?? true)
  const [region, setRegion] = useState(e?.region ?? '')
  const [egress, setEgress] = useState(e?.egress ?? 'shared')
  const places = useEgress(useTenant()).data
  const addresses = places?.addresses ?? []
  // The stored region stays a choice when the deployment no longer has it.
  const regions = [...new Set([...(places?.regions ?? []), ...(e?.region ? [e.region] : [])])]
  const [failure, setFailure] = useState<ApiError | null>(null)
  const [busy, setBusy] = useState(false)
  const run = async (values: Values) => {
    setBusy(true)
    setFailure(null)
    try {
      await submit(fieldsOf(values, { retry, signature, autoDisable, region, egress, of: e }))
    } catch (refusal) {
      setFailure(refusal as ApiError)
    } finally {
      setBusy(false)
    }
  }
  // The API names a field by its path, such as event_types[0] or retry.schedule[1].
  const error = (...names: string[]) => Object.entries(failure?.fields ?? {}).find(([field]) => names.some((n) => field === n || field.startsWith(`${n}[`) || field.startsWith(`${n}.`) || field.startsWith(`${n}/`)))?.[1]
  const known = ['url', 'uid', 'description', 'event_types', 'filter', 'retry', 'retry_on', 'give_up_on', 'timeout', 'max_age', 'rate_per_second', 'max_in_flight', 'headers', 'circuit', 'region', 'egress']
  const others = Object.entries(failure?.fields ?? {}).filter(([field]) => !known.some((n) => field === n || field.startsWith(`${n}[`) || field.startsWith(`${n}.`) || field.startsWith(`${n}/`)))
  const retries = (Object.keys(t.retries) as Choice[]).filter((c) => c !== 'keep' || choiceOf(e) === 'keep')
  return (
    <Card pad>
      <Form onValues={(values) => void run(values)}>
        <Field name="url" label={t.url} help={t.urlHelp} error={error('url')}>
          <Input defaultValue={e?.url} placeholder="https://example.com/webhooks" inputMode="url" />
        </Field>
        <div className="pair">
          {!e && (
            <Field name="uid" label={t.uid} help={t.uidHelp} error={error('uid')}>
              <Input />
            </Field>
          )}
          <Field name="description" label={t.description} error={error('description')}>
            <Input defaultValue={e?.description} />
          </Field>
        </div>
        <Field name="event_types" label={t.types} help={t.typesHelp} error={error('event_types')}>
          <TextArea rows={3} defaultValue={(e?.event_types ?? ['*']).join('\n')} />
        </Field>
        <div className="pair">
          <div className="field">
            <span className="label">{t.retry}</span>
            <Select label={t.retry} value={retry} onChange={setRetry} options={retries.map((value) => ({ value, label: t.retries[value] ?? value }))} />
            {retry !== 'schedule' && error('retry') && <span className="wrong">{error('retry')}</span>}
          </div>
          {retry === 'schedule' && (
            <Field name="schedule" label={t.schedule} help={t.scheduleHelp} error={error('retry')}>
              <Input defaultValue={e?.retry.schedule?.join(' ') ?? '30s 5m 1h'} />
            </Field>
          )}
          <div className="field">
            <span className="label">{t.signature}</span>
            <Select
              label={t.signature}
              value={signature}
              onChange={setSignature}
              options={[
                { value: 'standard', label: t.signatures.standard },
                { value: 'classic', label: t.signatures.classic },
              ]}
            />
          </div>
        </div>
        <Collapsible.Root className="stack" defaultOpen={!!e}>
          <Collapsible.Trigger className="button quiet fold">
            <ChevronRight size={14} aria-hidden /> {t.advanced}
          </Collapsible.Trigger>
          <Collapsible.Panel className="stack" keepMounted>
            <div className="pair">
              <Field name="timeout" label={t.timeout} error={error('timeout')}>
                <Input defaultValue={e?.timeout ?? '10s'} />
              </Field>
              <Field name="max_age" label={t.maxAge} error={error('max_age')}>
                <Input defaultValue={e?.max_age ?? '72h'} />
              </Field>
              <Field name="retry_on" label={t.retryOn} help={t.statusesHelp} error={error('retry_on')}>
                <Input defaultValue={e?.retry_on.join(' ')} placeholder="401 404" />
              </Field>
              <Field name="give_up_on" label={t.giveUpOn} help={t.statusesHelp} error={error('give_up_on')}>
                <Input defaultValue={e?.give_up_on.join(' ')} placeholder="501" />
              </Field>
              <Field name="rate_per_second" label={t.rate} help={t.rateHelp} error={error('rate_per_second')}>
                <Input defaultValue={e?.rate_per_second ?? 0} inputMode="decimal" />
              </Field>
              <Field name="max_in_flight" label={t.inFlight} help={t.rateHelp} error={error('max_in_flight')}>
                <Input defaultValue={e?.max_in_flight ?? 0} inputMode="numeric" />
              </Field>
              <Field name="circuit_failures" label={`${t.circuit}: ${t.circuitFailures.toLowerCase()}`} error={error('circuit.failures')}>
                <Input defaultValue={e?.circuit.failures ?? 5} inputMode="numeric" />
              </Field>
              <Field name="circuit_cooldown" label={`${t.circuit}: ${t.cooldown.toLowerCase()}`} error={error('circuit.cooldown', 'circuit.max_cooldown')}>
                <Input defaultValue={e?.circuit.cooldown ?? '5m'} />
              </Field>
            </div>
            <div className="pair">
              {regions.length > 0 && (
                <Field name="region" label={t.region} error={error('region')}>
                  <Select value={region || own} options={[{ value: own, label: t.ownRegion }, ...regions.map((r) => ({ value: r, label: r }))]} onChange={(r) => setRegion(r === own ? '' : r)} label={t.region} />
                </Field>
              )}
              {(addresses.length > 0 || e?.egress === 'fixed') && (
                <Field name="egress" label={t.egress} help={t.addresses(addresses)} error={error('egress')}>
                  <Select value={egress} options={egresses.map((value) => ({ value, label: t.egresses[value] }))} onChange={setEgress} label={t.egress} />
                </Field>
              )}
            </div>
            <Field name="filter" label={t.filter} help={t.filterHelp} error={error('filter')}>
              <TextArea rows={3} defaultValue={filterText(e)} />
            </Field>
            <Field name="headers" label={t.headers} help={t.headersHelp} error={error('headers')}>
              <TextArea
                rows={3}
                defaultValue={Object.entries(e?.headers ?? {})
                  .map(([name, value]) => `${name}: ${value}`)
                  .join('\n')}
              />
            </Field>
            <CheckBox checked={autoDisable} onChange={setAutoDisable}>
              {t.autoDisable}
            </CheckBox>
          </Collapsible.Panel>
        </Collapsible.Root>
        {failure && (Object.keys(failure.fields).length === 0 || others.length > 0) && (
          <p className="notice bad" role="alert">
            {failure.status === 412 ? t.conflict : others.length ? others.map(([field, message]) => `${field} ${message}`).join('; ') : failureOf(failure)}
          </p>
        )}
        <div>
          <Button look="primary" type="submit" disabled={busy}>
            {label}
          </Button>
        </div>
      </Form>
    </Card>
  )
}

type Egress = 'shared' | 'fixed'
const egresses: Egress[] = ['shared', 'fixed']

// A list has no empty value, and the API says the own region by the empty text.
const own = 'own'

type Chosen = { retry: Choice; signature: 'standard' | 'classic'; autoDisable: boolean; region: string; egress: Egress; of?: Endpoint }

const lines = (value: string) => value.split('\n').map((l) => l.trim()).filter(Boolean)

// A text that is no number goes to the API as it is, so the API says what is wrong.
const numeric = (value: string) => (value.trim() === '' || Number.isNaN(Number(value)) ? (value as unknown as number) : Number(value))

// An unchanged text is not sent: JavaScript writes 300.0 as 300, and a filter tells them apart.
const filterText = (e?: Endpoint) => (e && Object.keys(e.filter).length ? JSON.stringify(e.filter, null, 2) : '')

// A text that is no JSON goes to the API as it is, so the API says what is wrong.
function json(value: string): Record<string, unknown> {
  if (!value.trim()) return {}
  try {
    return JSON.parse(value) as Record<string, unknown>
  } catch {
    return value as unknown as Record<string, unknown>
  }
}

const statuses = (value: string) => value.split(/[\s,]+/).filter(Boolean).map(numeric)

function fieldsOf(v: Values, chosen: Chosen): Fields {
  const headers = Object.fromEntries(
    lines(v.headers ?? '').map((line) => {
      const colon = line.indexOf(':')
      return colon < 0 ? [line, ''] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    }),
  )
  // An empty text removes a header that is no longer named.
  for (const name of Object.keys(chosen.of?.headers ?? {})) headers[name] ??= ''
  const retry = chosen.retry === 'schedule' ? { ...(chosen.of?.retry.schedule ? { jitter: chosen.of.retry.jitter } : {}), schedule: (v.schedule ?? '').split(/[\s,]+/).filter(Boolean) } : chosen.retry === 'keep' ? undefined : { preset: chosen.retry }
  return {
    url: (v.url ?? '').trim(),
    ...(v.uid?.trim() ? { uid: v.uid.trim() } : {}),
    description: v.description ?? '',
    event_types: lines(v.event_types ?? ''),
    ...((v.filter ?? '') !== filterText(chosen.of) ? { filter: json(v.filter ?? '') } : {}),
    ...(retry ? { retry } : {}),
    retry_on: statuses(v.retry_on ?? ''),
    give_up_on: statuses(v.give_up_on ?? ''),
    timeout: (v.timeout ?? '').trim(),
    max_age: (v.max_age ?? '').trim(),
    rate_per_second: numeric(v.rate_per_second ?? ''),
    max_in_flight: numeric(v.max_in_flight ?? ''),
    circuit: { failures: numeric(v.circuit_failures ?? ''), cooldown: (v.circuit_cooldown ?? '').trim() },
    headers,
    auto_disable: chosen.autoDisable,
    signature_headers: chosen.signature,
    ...(chosen.region !== (chosen.of?.region ?? '') ? { region: chosen.region } : {}),
    ...(chosen.egress !== (chosen.of?.egress ?? 'shared') ? { egress: chosen.egress } : {}),
  }
}
