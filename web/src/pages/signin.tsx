import { useState } from 'react'
import { api, ApiError, ask } from '../api/client'
import { ended, signIn } from '../session'
import { failureOf, text } from '../text'
import { Input } from '../ui/controls'
import { Field, Form, type Values } from '../ui/form'
import { Mark } from '../ui/mark'

export function SignIn() {
  const [single, setSingle] = useState(false)
  const submit = async (values: Values) => {
    const tenant = (values.tenant ?? '').trim()
    const key = (values.key ?? '').trim()
    try {
      if (tenant) await ask(api(key).GET('/v1/tenants/{tenant}/limits', { params: { path: { tenant } } }))
      else await ask(api(key).GET('/v1/tenants', { params: { query: { limit: 1 } } }))
      signIn({ key, tenant })
    } catch (e) {
      const refusal = e as ApiError
      if (refusal.status === 403 && !tenant) setSingle(true)
      else throw new ApiError(refusal.status, { errors: [{ field: 'key', message: failureOf(refusal) }] })
    }
  }
  return (
    <main className="signin">
      <div className="card">
        <span className="brand">
          <Mark /> {text.brand}
        </span>
        <div className="stack tight">
          <h1>{text.signIn.title}</h1>
          <p className="soft">{text.signIn.lead}</p>
          {ended() === 'refused' && (
            <p className="notice warn" role="alert">
              {text.failures.unauthorized}
            </p>
          )}
        </div>
        <Form submit={submit} label={text.signIn.submit}>
          <Field name="key" label={text.signIn.key} help={text.signIn.keyHelp}>
            <Input type="password" placeholder="shk_…" required autoFocus />
          </Field>
          {single && (
            <Field name="tenant" label={text.signIn.tenant} help={text.signIn.tenantHelp}>
              <Input required autoFocus />
            </Field>
          )}
        </Form>
      </div>
    </main>
  )
}
