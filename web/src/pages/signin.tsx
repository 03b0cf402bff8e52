import { useState } from 'react'
import { api, ApiError, ask } from '../api/client'
import { signIn, signOut } from '../session'
import { failureOf, text } from '../text'
import { Button, Field, Form, Input } from '../ui/controls'
import { Mark } from '../ui/mark'

export function SignIn({ done }: { done: () => void }) {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const [single, setSingle] = useState(false)
  const submit = async (values: Record<string, string>) => {
    setBusy(true)
    setFailure(null)
    const tenant = String(values.tenant ?? '').trim()
    signIn({ key: String(values.key).trim(), tenant })
    try {
      if (tenant) await ask(api().GET('/v1/tenants/{tenant}/limits', { params: { path: { tenant } } }))
      else await ask(api().GET('/v1/tenants', { params: { query: { limit: 1 } } }))
      done()
    } catch (e) {
      const refusal = e as ApiError
      signOut()
      if (refusal.status === 403 && !tenant) setSingle(true)
      else setFailure(failureOf(refusal))
    } finally {
      setBusy(false)
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
        </div>
        <Form onValues={(values) => void submit(values)}>
          <Field name="key" label={text.signIn.key} help={text.signIn.keyHelp} error={failure ?? undefined}>
            <Input type="password" placeholder="shk_…" required autoFocus />
          </Field>
          {single && (
            <Field name="tenant" label={text.signIn.tenant} help={text.signIn.tenantHelp}>
              <Input required autoFocus />
            </Field>
          )}
          <Button look="primary" type="submit" disabled={busy}>
            {text.signIn.submit}
          </Button>
        </Form>
      </div>
    </main>
  )
}
