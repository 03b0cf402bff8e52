import { useRef, useState } from 'react'
import cloudevents from '../../../internal/rule/shape/presets/cloudevents.cel?raw'
import discord from '../../../internal/rule/shape/presets/discord.cel?raw'
import slack from '../../../internal/rule/shape/presets/slack.cel?raw'
import teams from '../../../internal/rule/shape/presets/teams.cel?raw'
import { type ApiError, askWith, type Schemas } from '../api/client'
import { failureOf, text } from '../text'
import { Button, CopyButton, Input, Select, TextArea } from '../ui/controls'
import { curlOf, requestText } from '../ui/curl'
import { Field, requireJson, type Values } from '../ui/form'

const t = text.form

type Endpoint = Schemas['Endpoint']
type Profiles = Schemas['Egress']['signature_profiles']

const presets = { slack, teams, discord, cloudevents }

// The names of lists for no choice; the API has an absent field, or an empty list.
const standing = 'default'
const none = 'none'

/** What is signed, and in which headers: one profile, or two while a receiver moves. */
export function ProfileFields({ of, profiles }: { of?: Endpoint; profiles?: Profiles }) {
  const [names, setNames] = useState<string[]>(of?.signature_profiles ?? [standing])
  // A stored profile can still be chosen if the deployment no longer has it.
  const known = [...new Set([...(profiles ?? []).map((p) => p.name), ...(of?.signature_profiles ?? [])])]
  const options = known.map((value) => ({ value, label: t.profiles[value] ?? value }))
  const weak = profiles?.filter((p) => names.includes(p.name)).flatMap((p) => p.warnings) ?? []
  return (
    <div className="pair">
      <Field name="signature_profiles" label={t.signature} help={weak.join('. ')}>
        <Select label={t.signature} value={names[0]!} onChange={(name) => setNames([name, ...names.slice(1)])} options={of ? options : [{ value: standing, label: t.standing }, ...options]} />
      </Field>
      {names[0] !== standing && (
        <Field name="signature_profiles.second" label={t.secondSignature} help={t.secondSignatureHelp}>
          <Select label={t.secondSignature} value={names[1] ?? none} onChange={(name) => setNames([names[0]!, ...(name === none ? [] : [name])])} options={[{ value: none, label: t.noSignature }, ...options.filter((o) => o.value !== names[0])]} />
        </Field>
      )}
    </div>
  )
}

/** The body of requests: an envelope, or a transformation with its preview. */
export function ShapeFields({ of, tenant }: { of?: Endpoint; tenant: string }) {
  const [expression, setExpression] = useState(of?.transformation ?? '')
  const [envelope, setEnvelope] = useState<string>(of?.envelope ?? standing)
  const area = useRef<HTMLTextAreaElement>(null)
  const choices = (['standard', 'raw', 'thin'] as const).map((value) => ({ value: value as string, label: t.envelopes[value] }))
  return (
    <>
      <div className="pair">
        <Field name="envelope" label={t.envelope} help={expression.trim() ? t.envelopeUnused : undefined}>
          <Select label={t.envelope} value={envelope} onChange={setEnvelope} options={of ? choices : [{ value: standing, label: t.standing }, ...choices]} />
        </Field>
        <Field name="preset" label={t.preset}>
          <Select label={t.preset} value={none} onChange={(name) => setExpression(presets[name as keyof typeof presets] ?? expression)} options={[{ value: none, label: t.presetNone }, ...Object.keys(presets).map((value) => ({ value, label: t.presets[value] ?? value }))]} />
        </Field>
      </div>
      <Field name="transformation" label={t.transformation} help={t.transformationHelp}>
        <TextArea ref={area} rows={8} value={expression} onChange={(change) => setExpression(change.target.value)} />
      </Field>
      {of && (
        <Preview
          path={`/v1/tenants/${tenant}/endpoints/${of.id}/preview`}
          shape={{ transformation: expression, ...(envelope !== standing && { envelope }) }}
          at={(line, column) => select(area.current, line, column)}
        />
      )}
    </>
  )
}

/** The profiles and the shape as chosen. */
export function shapeOf(v: Values): Pick<Schemas['EndpointFields'], 'signature_profiles' | 'envelope' | 'transformation'> {
  const profiles = [v.signature_profiles, v['signature_profiles.second']].filter((name): name is string => !!name && name !== none)
  return {
    ...(v.signature_profiles !== standing && { signature_profiles: profiles }),
    ...(v.envelope !== standing && { envelope: v.envelope as Endpoint['envelope'] }),
    transformation: v.transformation?.trim() ?? '',
  }
}

type PreviewProps = { path: string; shape: Record<string, string>; at: (line: number, column: number) => void }

/** The request for an event, with the settings of the form as they are now. */
function Preview({ path, shape, at }: PreviewProps) {
  const [shown, setShown] = useState<Schemas['Preview'] | null>(null)
  const [problem, setProblem] = useState('')
  const [event, setEvent] = useState({ type: 'order.paid', payload: '{"id": 1042}' })
  const show = async () => {
    setProblem('')
    try {
      requireJson('payload', event.payload)
      // The payload is sent as written, because JavaScript would change large numbers.
      const payload = event.payload.trim() && `,"payload":${event.payload}`
      const rest = JSON.stringify({ event_type: event.type.trim(), ...shape }).slice(0, -1)
      setShown(await askWith<Schemas['Preview']>('POST', path, `${rest}${payload}}`))
    } catch (failure) {
      setShown(null)
      const { fields } = failure as ApiError
      const wrong = Object.entries(fields)
      setProblem(wrong.length > 0 ? wrong.map(([field, message]) => (field === 'transformation' ? message : `${field} ${message}`)).join('; ') : failureOf(failure as ApiError))
      const place = /^line (\d+), column (\d+)/.exec(fields.transformation ?? '')
      if (place) at(Number(place[1]), Number(place[2]))
    }
  }
  return (
    <section className="stack" aria-label={t.preview}>
      <h3>{t.preview}</h3>
      <div className="pair">
        <Field name="preview.event_type" label={t.previewType}>
          <Input value={event.type} onChange={(change) => setEvent({ ...event, type: change.target.value })} />
        </Field>
        <Field name="preview.payload" label={t.previewPayload} help={t.previewPayloadHelp}>
          <TextArea rows={2} value={event.payload} onChange={(change) => setEvent({ ...event, payload: change.target.value })} />
        </Field>
      </div>
      <div className="buttons">
        <Button onClick={() => void show()}>{t.preview}</Button>
      </div>
      {problem && (
        <p className="notice bad" role="alert">
          {problem}
        </p>
      )}
      {shown && (
        <>
          <p role="status" className={shown.subscribed && shown.matches && shown.problems.length === 0 ? 'small soft' : 'notice warn'}>
            {shown.subscribed ? (shown.matches ? t.previewSent : t.previewFiltered) : t.previewUnsubscribed}{' '}
            {shown.problems.map((p) => `${p.field}: ${p.message}`).join('; ')}
          </p>
          <pre className="code wrap" tabIndex={0} aria-label={t.previewRequest}>
            {requestText(shown.request)}
          </pre>
          {shown.request.method === 'POST' && (
            <p>
              <span className="id">
                {t.previewCurl} <CopyButton value={curlOf(shown.request)} label="curl" />
              </span>
            </p>
          )}
          <p className="small soft">{t.previewSecret(shown.secret)}</p>
        </>
      )}
    </section>
  )
}

/** Puts the cursor at the place of a mistake. */
function select(area: HTMLTextAreaElement | null, line: number, column: number) {
  if (!area) return
  const before = area.value.split('\n').slice(0, line - 1)
  const place = before.reduce((sum, text) => sum + text.length + 1, 0) + column - 1
  area.focus()
  area.setSelectionRange(place, place + 1)
}
