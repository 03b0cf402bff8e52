import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, askWith } from '../api/client'
import { failureOf, text } from '../text'
import { Button, Field, Form, Input, TextArea } from '../ui/controls'
import { Dialog } from '../ui/dialog'
import { tell } from '../ui/toast'
import type { Schemas } from '../api/client'

const t = text.events

type Props = { tenant: string; open: boolean; onOpenChange: (open: boolean) => void }

/** Posts an event. The payload goes out byte for byte, so the body is text and not an object. */
export function SendDialog({ tenant, open, onOpenChange }: Props) {
  const navigate = useNavigate()
  const cache = useQueryClient()
  const [failure, setFailure] = useState<ApiError | null>(null)
  const [busy, setBusy] = useState(false)
  const submit = async (values: Record<string, string>) => {
    setBusy(true)
    setFailure(null)
    try {
      const accepted = await post(tenant, String(values.event_type), String(values.payload))
      onOpenChange(false)
      tell(t.sent(accepted.deliveries))
      await cache.invalidateQueries({ queryKey: [tenant] })
      void navigate({ to: '/t/$tenant/events/$event', params: { tenant, event: accepted.id } })
    } catch (e) {
      setFailure(e as ApiError)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title={t.sendTitle} open={open} onOpenChange={onOpenChange}>
      <p className="soft">{t.sendText}</p>
      <Form onValues={(values) => void submit(values)}>
        <Field name="event_type" label={t.type} error={failure?.fields.event_type}>
          <Input defaultValue="order.paid" required />
        </Field>
        <Field name="payload" label={t.payload} error={Object.entries(failure?.fields ?? {}).find(([field]) => field !== 'event_type')?.[1]}>
          <TextArea rows={8} defaultValue={'{\n  "order": 4711\n}'} />
        </Field>
        {failure && Object.keys(failure.fields).length === 0 && (
          <p className="notice bad" role="alert">
            {failureOf(failure)}
          </p>
        )}
        <div className="end">
          <Button onClick={() => onOpenChange(false)}>{text.keep}</Button>
          <Button look="primary" type="submit" disabled={busy}>
            {t.submit}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

function post(tenant: string, type: string, payload: string): Promise<Schemas['Accepted']> {
  return askWith('POST', `/v1/tenants/${encodeURIComponent(tenant)}/events`, `{"event_type":${JSON.stringify(type)},"payload":${payload || 'null'}}`)
}
