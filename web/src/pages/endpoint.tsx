import { Tabs } from '@base-ui/react/tabs'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { nameOf, useTenant } from '../api/reads'
import { goDuration, milliseconds } from '../format'
import { isPortal, may } from '../session'
import { text } from '../text'
import { Button, Id, Select } from '../ui/controls'
import { Confirm } from '../ui/dialog'
import { ActiveCondition, CircuitBadge, EndpointStatus } from '../ui/endpoint'
import { Json } from '../ui/json'
import { Card, Page } from '../ui/page'
import { SecretDialog } from '../ui/secret'
import { Data } from '../ui/states'
import { tell, tellFailure } from '../ui/toast'
import { DeliveryList } from './deliveries'
import { EndpointHealth } from './endpoint-health'
import { EndpointHistory } from './endpoint-history'
import { EndpointSettings } from './endpoint-form'
import { VerifySamples } from './endpoint-verify'
import { ReplayDialog, type Selection } from './replay-dialog'
import { SendDialog } from './send'

const t = text.endpoint
const words = isPortal ? text.replay.portal : text.replay.console

type Status = Schemas['EndpointDetail']

export function EndpointPage() {
  const tenant = useTenant()
  const { endpoint: id } = useParams({ from: '/t/$tenant/endpoints/$endpoint' })
  const { tab } = useSearch({ from: '/t/$tenant/endpoints/$endpoint' })
  const navigate = useNavigate()
  const [selection, setSelection] = useState<Selection | null>(null)
  const read = useQuery({
    queryKey: [tenant, 'endpoint', id],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/endpoints/{endpoint}', { params: { path: { tenant, endpoint: id } } })),
  })
  const e = read.data
  return (
    <Page
      title={e ? nameOf(e) : text.endpoints.name}
      heading={
        <span className="row">
          {e ? nameOf(e) : text.endpoints.name}
          {e && <ActiveCondition tenant={tenant} of={e} />}
          {e && <EndpointStatus of={e} />}
          {e?.status === 'active' && <CircuitBadge state={e.circuit_state.state} />}
        </span>
      }
      lead={e && <span className="break">{e.url}</span>}
      crumbs={[
        <Link to="/t/$tenant/endpoints" params={{ tenant }}>
          {text.endpoints.title}
        </Link>,
        <Id value={id} />,
      ]}
      actions={
        e && (
          <>
            {may('endpoints:write') && (e.status === 'active' ? <Test tenant={tenant} endpoint={id} /> : <Resume tenant={tenant} of={e} />)}
            {may('replay') && <Button onClick={() => setSelection({ endpoint: id })}>{words.open}</Button>}
            {may('endpoints:write') && <Actions tenant={tenant} of={e} />}
            <ReplayDialog tenant={tenant} selection={selection} close={() => setSelection(null)} />
          </>
        )
      }
    >
      <Data of={read}>
        {(endpoint) => (
          <Tabs.Root
            value={tab ?? 'health'}
            onValueChange={(next: string) => void navigate({ to: '.', search: { tab: next === 'health' ? undefined : next }, replace: true })}
            className="stack"
          >
            <Tabs.List className="tabs-list">
              {Object.entries(t.tabs).map(([name, label]) => (
                <Tabs.Tab key={name} value={name} className="tab">
                  {label}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="health" className="stack">
              <EndpointHealth tenant={tenant} of={endpoint} />
            </Tabs.Panel>
            <Tabs.Panel value="deliveries" className="stack">
              <DeliveryList tenant={tenant} endpoint={endpoint.id} />
            </Tabs.Panel>
            <Tabs.Panel value="settings" className="stack">
              {may('endpoints:write') ? (
                <EndpointSettings key={endpoint.id} tenant={tenant} of={endpoint} />
              ) : (
                <Card>
                  <Json of={JSON.stringify(isPortal ? { ...endpoint, circuit: undefined, circuit_state: undefined } : endpoint)} />
                </Card>
              )}
            </Tabs.Panel>
            <Tabs.Panel value="verify">
              <Card pad>
                <VerifySamples of={endpoint} />
              </Card>
            </Tabs.Panel>
            <Tabs.Panel value="history" className="stack">
              <EndpointHistory tenant={tenant} endpoint={endpoint.id} />
            </Tabs.Panel>
          </Tabs.Root>
        )}
      </Data>
    </Page>
  )
}

function Test({ tenant, endpoint }: { tenant: string; endpoint: string }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        {t.test}
      </Button>
      <SendDialog tenant={tenant} endpoint={endpoint} open={open} onOpenChange={setOpen} />
    </>
  )
}

async function resume(tenant: string, e: Status) {
  const params = { path: { tenant, endpoint: e.id } }
  try {
    if (e.status === 'disabled') await ask(api().POST('/v1/tenants/{tenant}/endpoints/{endpoint}/enable', { params }))
    else await ask(api().POST('/v1/tenants/{tenant}/endpoints/{endpoint}/resume', { params }))
    tell(t.resumed)
  } catch (failure) {
    tellFailure(failure)
  }
}

/** What helps an endpoint that is paused or disabled. It takes no test. */
function Resume({ tenant, of: e }: { tenant: string; of: Status }) {
  const cache = useQueryClient()
  return (
    <Button look="primary" onClick={() => void resume(tenant, e).then(() => cache.invalidateQueries({ queryKey: [tenant] }))}>
      {e.status === 'disabled' ? t.enable : t.resume}
    </Button>
  )
}

function Actions({ tenant, of: e }: { tenant: string; of: Status }) {
  const cache = useQueryClient()
  const navigate = useNavigate()
  const [secret, setSecret] = useState<string | null>(null)
  const params = { path: { tenant, endpoint: e.id } }
  const refresh = () => cache.invalidateQueries({ queryKey: [tenant] })
  const pause = async () => {
    try {
      await ask(api().POST('/v1/tenants/{tenant}/endpoints/{endpoint}/pause', { params }))
      tell(t.paused, () => void resume(tenant, e).then(refresh))
    } catch (failure) {
      tellFailure(failure)
    }
    await refresh()
  }
  return (
    <>
      <SecretDialog title={t.secretTitle} note={t.secretText} secret={secret} done={() => setSecret(null)} />
      {e.status === 'active' && <Button onClick={() => void pause()}>{t.pause}</Button>}
      <Rotate params={params} refresh={refresh} show={setSecret} />
      {e.old_secrets_until && (
        <Confirm
          trigger={<Button>{t.endOverlap}</Button>}
          title={t.endOverlapTitle}
          action={t.endOverlap}
          run={async () => {
            await ask(api().POST('/v1/tenants/{tenant}/endpoints/{endpoint}/end-overlap', { params }))
            await refresh()
          }}
        >
          {t.endOverlapText}
        </Confirm>
      )}
      <Confirm
        trigger={<Button look="danger">{t.remove}</Button>}
        title={t.removeTitle}
        action={t.remove}
        danger
        run={async () => {
          await ask(api().DELETE('/v1/tenants/{tenant}/endpoints/{endpoint}', { params }))
          tell(t.removed)
          await navigate({ to: '/t/$tenant/endpoints', params: { tenant } })
          await refresh()
        }}
      >
        {t.removeText}
      </Confirm>
    </>
  )
}

const overlaps = ['0s', '1h', '24h', '72h', '168h'] as const
type RotateProps = { params: { path: { tenant: string; endpoint: string } }; refresh: () => Promise<unknown>; show: (secret: string) => void }

/** Makes a new secret. The old one signs for the chosen time. */
function Rotate({ params, refresh, show }: RotateProps) {
  const [overlap, setOverlap] = useState<string>('24h')
  return (
    <Confirm
      trigger={<Button>{t.rotate}</Button>}
      title={t.rotateTitle}
      action={t.rotate}
      danger={overlap === '0s'}
      run={async () => {
        const rotated = await ask(api().POST('/v1/tenants/{tenant}/endpoints/{endpoint}/rotate-secret', { params, body: { overlap } }))
        show(rotated.secret)
        await refresh()
      }}
    >
      <div className="stack">
        <p>{overlap === '0s' ? t.rotateNow : t.rotateText}</p>
        <div className="field">
          <span className="label">{t.overlap}</span>
          <Select label={t.overlap} value={overlap} onChange={setOverlap} options={overlaps.map((value) => ({ value: value as string, label: value === '0s' ? t.noOverlap : milliseconds(goDuration(value)) }))} />
        </div>
      </div>
    </Confirm>
  )
}
