import { AlertDialog } from '@base-ui/react/alert-dialog'
import { useState } from 'react'
import { api, ApiError, ask } from '../api/client'
import { hasIssuer, issuerHost, revoke, signingIn, startSignIn } from '../person'
import { endSession, ended, session, signIn } from '../session'
import { failureOf, text } from '../text'
import { Button, Input } from '../ui/controls'
import { Field, Form, type Values } from '../ui/form'
import { Mark } from '../ui/mark'

const t = text.signIn

/** The sign-in of a person, or with an API key. */
export function SignIn() {
  const [byKey, setByKey] = useState(!hasIssuer)
  const sign = signingIn()
  return (
    <main className="signin">
      <div className="card">
        <span className="brand">
          <Mark /> {text.brand}
        </span>
        <div className="stack tight">
          <h1>{t.title}</h1>
          <p className="soft">{byKey ? t.lead : t.leadPerson(issuerHost)}</p>
          {ended() === 'refused' && (
            <p className="notice warn" role="alert">
              {text.failures.unauthorized}
            </p>
          )}
          {ended() === 'expired' && (
            <p className="notice warn" role="alert">
              {t.endedTitle}
            </p>
          )}
          {sign?.at === 'failed' && (
            <p className="notice bad" role="alert">
              {sign.why}
            </p>
          )}
        </div>
        {byKey ? (
          <KeyForm />
        ) : (
          <div className="buttons column">
            <Button look="primary" disabled={sign?.at === 'going'} onClick={() => void startSignIn()}>
              {sign?.at === 'going' ? t.going : t.submit}
            </Button>
          </div>
        )}
        {hasIssuer && (
          <div className="buttons column">
            <Button look="quiet" onClick={() => setByKey(!byKey)}>
              {byKey ? t.withPerson : t.withKey}
            </Button>
          </div>
        )}
      </div>
    </main>
  )
}

function leave() {
  const left = session()
  endSession('signed_out', left?.key)
  if (left?.person?.refresh) void revoke(left.person.refresh)
}

/** Over a page whose person's sign-in has ended: the page stays, with what was typed. */
export function Ended() {
  return (
    <AlertDialog.Root open={!!session()?.person?.ended}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title render={<h2 />}>{t.endedTitle}</AlertDialog.Title>
          <AlertDialog.Description className="soft">{t.endedText}</AlertDialog.Description>
          <div className="buttons">
            <Button onClick={leave}>{t.out}</Button>
            <Button look="primary" onClick={() => window.open('/console?again', '_blank', 'noopener')}>
              {t.again}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}

function KeyForm() {
  const [single, setSingle] = useState(false)
  const submit = async (values: Values) => {
    const key = (values.key ?? '').trim()
    try {
      const caller = await ask(api(key).GET('/v1/caller'))
      const tenant = caller.tenant === '*' ? (values.tenant ?? '').trim() : caller.tenant
      // A key of all tenants that may not list them needs to know one.
      if (!tenant && !caller.scopes.some((s) => s === 'admin' || s === 'tenants:read')) return setSingle(true)
      signIn({ key, tenant, caller: { id: caller.id, name: caller.name, scopes: caller.scopes }, environment: caller.environment })
    } catch (e) {
      const refusal = e as ApiError
      throw new ApiError(refusal.status, { errors: [{ field: 'key', message: failureOf(refusal) }] })
    }
  }
  return (
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
  )
}
