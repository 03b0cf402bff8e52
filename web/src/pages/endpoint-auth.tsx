import { useState } from 'react'
import type { Schemas } from '../api/client'
import { text } from '../text'
import { Input, Select } from '../ui/controls'
import { Field, type Values } from '../ui/form'

const t = text.form

type Auth = Schemas['Auth']
type Part = Exclude<keyof Auth, 'type'>

// What each type of authentication consists of.
const parts: Record<Auth['type'], Part[]> = {
  none: [],
  basic: ['username', 'password'],
  bearer: ['token'],
  oauth2: ['token_url', 'client_id', 'client_secret', 'client_auth', 'scope', 'audience'],
}

// No answer of the API holds these.
const secrets = new Set<Part>(['password', 'token', 'client_secret'])

/** The authentication at the receiver. A stored secret stays when its control is left empty, unless the URL moved to another origin. */
export function AuthFields({ of, moved }: { of?: Schemas['AuthView']; moved: boolean }) {
  const [type, setType] = useState(of?.type ?? 'none')
  const stored = of?.type === type ? of : undefined
  return (
    <div className="pair">
      <Field name="auth.type" label={t.auth}>
        <Select label={t.auth} value={type} onChange={setType} options={(Object.keys(parts) as Auth['type'][]).map((value) => ({ value, label: t.auths[value] }))} />
      </Field>
      {parts[type].map((part) => (
        <Field key={`${type} ${part}`} name={`auth.${part}`} label={t.authParts[part]}>
          {part === 'client_auth' ? (
            <Select label={t.authParts[part]} defaultValue={stored?.[part] ?? 'basic'} options={(['basic', 'body'] as const).map((value) => ({ value, label: t.clientAuths[value] }))} />
          ) : secrets.has(part) ? (
            <Input type="password" autoComplete="new-password" placeholder={stored && (moved ? t.again : t.kept)} />
          ) : (
            <Input defaultValue={stored?.[part]} />
          )}
        </Field>
      ))}
    </div>
  )
}

/** The authentication as chosen; undefined when there is none, and was none. */
export function authOf(values: Values, of?: Schemas['AuthView']): Auth | undefined {
  const type = values['auth.type'] as Auth['type']
  if (type === 'none' && (of?.type ?? 'none') === 'none') return undefined
  const typed = parts[type].map((part) => [part, values[`auth.${part}`] || (secrets.has(part) && of?.type === type ? masked : undefined)])
  return { type, ...(Object.fromEntries(typed.filter(([, value]) => value)) as Partial<Auth>) }
}

// The API keeps the stored secret for it.
const masked = '***'
