import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ApiError, ask, type Schemas } from '../api/client'
import { failureOf, text } from '../text'
import { Button, Field, Form, Input } from '../ui/controls'
import { Dialog } from '../ui/dialog'
import { Data } from '../ui/states'
import { tell, tellFailure } from '../ui/toast'

const t = text.limits

type Limits = Schemas['TenantLimits']
const counts = ['events_per_second', 'deliveries_per_event', 'endpoints'] as const

/** Changes the limits of a tenant. An empty field is no limit. */
export function TenantLimits({ tenant }: { tenant: string }) {
  const [open, setOpen] = useState(false)
  const limits = useQuery({
    queryKey: [tenant, 'limits'],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/limits', { params: { path: { tenant } } })),
    enabled: open,
    refetchInterval: false,
  })
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t.title}</Button>
      <Dialog title={t.title} open={open} onOpenChange={setOpen}>
        <p className="soft">{t.lead}</p>
        <Data of={limits}>{(now) => <LimitsForm tenant={tenant} of={now} close={() => setOpen(false)} />}</Data>
      </Dialog>
    </>
  )
}

function LimitsForm({ tenant, of: now, close }: { tenant: string; of: Limits; close: () => void }) {
  const cache = useQueryClient()
  const [failure, setFailure] = useState<ApiError | null>(null)
  const [busy, setBusy] = useState(false)
  const put = async (body: Limits) => {
    await ask(api().PUT('/v1/tenants/{tenant}/limits', { params: { path: { tenant } }, body }))
    await cache.invalidateQueries({ queryKey: [tenant, 'limits'] })
    await cache.invalidateQueries({ queryKey: ['tenants'] })
  }
  const submit = async (values: Record<string, string>) => {
    setBusy(true)
    setFailure(null)
    try {
      await put(limitsOf(values))
      close()
      tell(t.saved, () => void put(now).catch(tellFailure))
    } catch (e) {
      setFailure(e as ApiError)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Form onValues={(values) => void submit(values)}>
      <div className="pair">
        {counts.map((name) => (
          <Field key={name} name={name} label={t[name]} help={t.none} error={failure?.fields[name]}>
            <Input defaultValue={now[name]} inputMode="numeric" />
          </Field>
        ))}
        <Field name="retain_for" label={t.retain_for} help={t.retainHelp} error={failure?.fields.retain_for}>
          <Input defaultValue={now.retain_for} />
        </Field>
      </div>
      {failure && Object.keys(failure.fields).length === 0 && (
        <p className="notice bad" role="alert">
          {failureOf(failure)}
        </p>
      )}
      <div className="end">
        <Button onClick={close}>{text.keep}</Button>
        <Button look="primary" type="submit" disabled={busy}>
          {text.save}
        </Button>
      </div>
    </Form>
  )
}

function limitsOf(values: Record<string, string>): Limits {
  const limits: Limits = {}
  for (const name of counts) {
    const value = (values[name] ?? '').trim()
    // A text that is no number goes to the API as it is, so the API says what is wrong.
    if (value) limits[name] = Number.isNaN(Number(value)) ? (value as unknown as number) : Number(value)
  }
  if (values.retain_for?.trim()) limits.retain_for = values.retain_for.trim()
  return limits
}
