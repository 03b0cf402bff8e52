import { useState } from 'react'
import type { Schemas } from '../api/client'
import { text } from '../text'
import { CheckBox, TextArea } from '../ui/controls'
import { Field, type Values } from '../ui/form'
import { Time } from '../ui/time'

const t = text.form

type TLS = Schemas['TLS']

/** The authorities to trust, and the client certificate. A stored text stays when its control is left empty; certificate and key only as long as the URL has the same origin. */
export function TLSFields({ of, moved }: { of?: Schemas['TLSView']; moved: boolean }) {
  const [ca, setCA] = useState(!!of?.ca)
  const [client, setClient] = useState(!!of?.certificate)
  return (
    <>
      <CheckBox checked={ca} onChange={setCA}>
        {t.ownAuthorities}
      </CheckBox>
      {ca && <PEM name="ca" stored={!!of?.ca} kept={t.kept} />}
      <CheckBox checked={client} onChange={setClient}>
        {t.clientCertificate}
      </CheckBox>
      {of?.not_after && (
        <p className="help">
          {of.subject} · {t.certificateEnds} <Time at={of.not_after} />
        </p>
      )}
      {client && (
        <div className="pair">
          <PEM name="certificate" stored={!!of?.certificate} kept={moved ? t.again : t.kept} />
          <PEM name="key" stored={!!of?.key} kept={moved ? t.again : t.kept} />
        </div>
      )}
    </>
  )
}

function PEM({ name, stored, kept }: { name: keyof TLS; stored: boolean; kept: string }) {
  return (
    <Field name={`tls.${name}`} label={t.tlsParts[name]} help={t.pemHelp}>
      <TextArea rows={4} spellCheck={false} placeholder={stored ? kept : '-----BEGIN'} />
    </Field>
  )
}

/** The settings as chosen; undefined when there are none, and were none. */
export function tlsOf(values: Values, of?: Schemas['TLSView']): TLS | undefined {
  const chosen = (['ca', 'certificate', 'key'] as const).filter((name) => values[`tls.${name}`] !== undefined)
  if (chosen.length === 0) return of && {}
  return Object.fromEntries(chosen.map((name) => [name, values[`tls.${name}`] || of?.[name] || '']))
}
