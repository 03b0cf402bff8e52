import { useState } from 'react'
import { api, ApiError, ask, type Schemas } from '../api/client'
import { failureOf, text } from '../text'
import { Button, CopyButton, Field, Form, Input } from '../ui/controls'
import { Dialog } from '../ui/dialog'
import { Time } from '../ui/time'

const t = text.keys

/** Makes a link to the portal of a tenant, for support, and shows the link once. */
export function PortalLink({ tenant }: { tenant: string }) {
  const [open, setOpen] = useState(false)
  const [link, setLink] = useState<Schemas['PortalLink'] | null>(null)
  const [failure, setFailure] = useState<ApiError | null>(null)
  const submit = async (values: Record<string, string>) => {
    setFailure(null)
    try {
      setLink(await ask(api().POST('/v1/tenants/{tenant}/portal-links', { params: { path: { tenant } }, body: { ttl: `${String(values.hours).trim()}h` } })))
    } catch (e) {
      setFailure(e as ApiError)
    }
  }
  return (
    <>
      <Button
        onClick={() => {
          setLink(null)
          setOpen(true)
        }}
      >
        {t.portal}
      </Button>
      <Dialog title={t.portalTitle} open={open} onOpenChange={setOpen}>
        <p className="soft">{t.portalText}</p>
        {link ? (
          <div className="stack">
            <div className="secret id">
              <code>{link.url}</code>
              <CopyButton value={link.url} label={t.portalTitle} />
            </div>
            <p className="soft">
              {t.expires} <Time at={link.expires_at} />, <code>{link.key_id}</code>
            </p>
            <div className="end">
              <Button onClick={() => setOpen(false)}>{text.close}</Button>
              <a className="button primary" href={link.url} target="_blank" rel="noreferrer">
                {t.portalOpen}
              </a>
            </div>
          </div>
        ) : (
          <Form onValues={(values) => void submit(values)}>
            <Field name="hours" label={t.portalHours} error={failure?.fields.ttl}>
              <Input defaultValue="1" inputMode="numeric" />
            </Field>
            {failure && !failure.fields.ttl && (
              <p className="notice bad" role="alert">
                {failureOf(failure)}
              </p>
            )}
            <div className="end">
              <Button onClick={() => setOpen(false)}>{text.keep}</Button>
              <Button look="primary" type="submit">
                {t.portalSubmit}
              </Button>
            </div>
          </Form>
        )}
      </Dialog>
    </>
  )
}
