import { useState } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { text } from '../text'
import { Button, CopyButton, Input } from '../ui/controls'
import { Dialog } from '../ui/dialog'
import { Field, Form, type Values } from '../ui/form'
import { Time } from '../ui/time'

const t = text.keys

/** A button for support that makes a link to the portal of the tenant, and shows the link once. */
export function PortalLink({ tenant }: { tenant: string }) {
  const [open, setOpen] = useState(false)
  const [link, setLink] = useState<Schemas['PortalLink'] | null>(null)
  const submit = async (values: Values) => {
    setLink(await ask(api().POST('/v1/tenants/{tenant}/portal-links', { params: { path: { tenant } }, body: { ttl: `${(values.ttl ?? '').trim()}h` } })))
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
              {t.portalUntil} <Time at={link.open_until} />. {t.portalExpires} <Time at={link.expires_at} />. <code>{link.key_id}</code>
            </p>
            <div className="buttons">
              <Button onClick={() => setOpen(false)}>{text.close}</Button>
              <a className="button primary" href={link.url} target="_blank" rel="noreferrer">
                {t.portalOpen}
              </a>
            </div>
          </div>
        ) : (
          <Form submit={submit} label={t.portalSubmit} cancel={() => setOpen(false)}>
            <Field name="ttl" label={t.portalHours}>
              <Input defaultValue="1" inputMode="numeric" />
            </Field>
          </Form>
        )}
      </Dialog>
    </>
  )
}
