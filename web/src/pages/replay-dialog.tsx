import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, ApiError, ask, type Schemas } from '../api/client'
import { text } from '../text'
import { Input } from '../ui/controls'
import { EndpointName, LastAnswer } from '../ui/delivery'
import { Dialog } from '../ui/dialog'
import { Field, Form, numeric, type Values } from '../ui/form'
import { Data } from '../ui/states'
import { Time } from '../ui/time'
import { tell } from '../ui/toast'

const t = text.dead

/** What to replay: all dead deliveries, or those of a group, by endpoint and last attempt. */
export type Selection = Pick<Schemas['ReplayFilter'], 'endpoint' | 'class' | 'status'>

type Props = { tenant: string; selection: Selection | null; close: () => void }

/** Counts what a replay would send, asks, and starts the job. */
export function ReplayDialog({ tenant, selection, close }: Props) {
  return (
    <Dialog title={t.flowTitle} open={selection !== null} onOpenChange={(open) => !open && close()}>
      {selection && <Flow tenant={tenant} selection={selection} close={close} />}
    </Dialog>
  )
}

function Flow({ tenant, selection, close }: { tenant: string; selection: Selection; close: () => void }) {
  const navigate = useNavigate()
  const cache = useQueryClient()
  const filter = { ...selection, state: 'dead' as const }
  const params = { path: { tenant } }
  const preview = useQuery({
    queryKey: [tenant, 'preview', selection],
    queryFn: async () => {
      const counted = await ask(api().POST('/v1/tenants/{tenant}/replays', { params, body: { filter, dry_run: true } }))
      if (!('sample' in counted)) throw new ApiError(500, {})
      return counted
    },
    refetchInterval: false,
    gcTime: 0,
    staleTime: 0,
  })
  const start = async ({ rate_per_second }: Values) => {
    const job = await ask(api().POST('/v1/tenants/{tenant}/replays', { params, body: { filter, rate_per_second: numeric(rate_per_second ?? '') } }))
    if (!('id' in job)) throw new ApiError(500, {})
    tell(t.started)
    close()
    await cache.invalidateQueries({ queryKey: [tenant] })
    await navigate({ to: '/t/$tenant/replays/$replay', params: { tenant, replay: job.id } })
  }
  return (
    <>
      <p className="soft">
        {t.flowText} {selection.class && t.group}
      </p>
      <Data of={preview}>
        {(p) => (
          <div className="stack">
            <p className="notice">
              <strong>{p.total === 0 ? t.nothing : t.selected(p.total, !p.complete)}</strong>
            </p>
            {p.by_endpoint.length > 1 && (
              <ul className="stack tight">
                {p.by_endpoint.map((e) => (
                  <li key={e.endpoint_id}>
                    <EndpointName tenant={tenant} id={e.endpoint_id} /> <span className="soft">{t.letters(e.count)}</span>
                  </li>
                ))}
              </ul>
            )}
            {p.sample.length > 0 && (
              <div className="stack tight">
                <h3>{t.sample}</h3>
                <ul className="stack tight small">
                  {p.sample.slice(0, 5).map((d) => (
                    <li key={d.id} className="row">
                      {d.event_type} <LastAnswer of={d.last} />
                      <span className="soft">
                        <Time at={d.created_at} />
                      </span>
                    </li>
                  ))}
                </ul>
              </div>
            )}
            <Form submit={start} label={t.start} cancel={close} disabled={p.total === 0}>
              <Field name="rate_per_second" label={t.rate}>
                <Input defaultValue="50" inputMode="decimal" />
              </Field>
            </Form>
          </div>
        )}
      </Data>
    </>
  )
}
