import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { text } from '../text'
import { Button, Input } from '../ui/controls'
import { Dialog } from '../ui/dialog'
import { Field, Form, numeric, type Values } from '../ui/form'
import { Data } from '../ui/states'
import { tell, tellFailure } from '../ui/toast'

const t = text.limits

type Limits = Schemas['TenantLimits']
const counts = ['events_per_second', 'deliveries_per_event', 'endpoints', 'replays_per_hour', 'changes_per_hour'] as const

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
  const put = async (body: Limits) => {
    await ask(api().PUT('/v1/tenants/{tenant}/limits', { params: { path: { tenant } }, body }))
    await cache.invalidateQueries({ queryKey: [tenant, 'limits'] })
    await cache.invalidateQueries({ queryKey: ['tenants'] })
  }
  const submit = async (values: Values) => {
    await put(limitsOf(values))
    close()
    tell(t.saved, () => void put(now).catch(tellFailure))
  }
  return (
    <Form submit={submit} label={text.save} cancel={close}>
      <div className="pair">
        {counts.map((name) => (
          <Field key={name} name={name} label={t[name]} help={t.none}>
            <Input defaultValue={now[name]} inputMode="numeric" />
          </Field>
        ))}
        <Field name="retain_for" label={t.retain_for} help={t.retainHelp}>
          <Input defaultValue={now.retain_for} />
        </Field>
      </div>
    </Form>
  )
}

function limitsOf(values: Values): Limits {
  const limits: Limits = {}
  for (const name of counts) {
    const value = (values[name] ?? '').trim()
    if (value) limits[name] = numeric(value)
  }
  if (values.retain_for?.trim()) limits.retain_for = values.retain_for.trim()
  return limits
}
