import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Tabs } from '@base-ui/react/tabs'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, refused, type Schemas } from '../api/client'
import { useTenant } from '../api/reads'
import { bytes } from '../format'
import { payloadOf } from '../json'
import { may } from '../session'
import { text } from '../text'
import { Button, CopyButton, Id } from '../ui/controls'
import { Confirm } from '../ui/dialog'
import { Json } from '../ui/json'
import { Card, Facts, Page } from '../ui/page'
import { Pager } from '../ui/pager'
import { Data, Empty } from '../ui/states'
import { EndpointChoice } from '../ui/suggest'
import { Time } from '../ui/time'
import { tell } from '../ui/toast'
import { DeliveryCard } from './delivery'

const t = text.event

const mostCards = 100

type Read = { event: Schemas['Event']; payload: string }

export function Event() {
  const tenant = useTenant()
  const { event: id } = useParams({ from: '/t/$tenant/events/$event' })
  const path = { tenant, event: id }
  const read = useQuery({
    queryKey: [tenant, 'event', id],
    queryFn: async (): Promise<Read> => {
      const answer = await ask(api().GET('/v1/tenants/{tenant}/events/{event}', { params: { path }, parseAs: 'text' }))
      return { event: JSON.parse(answer) as Schemas['Event'], payload: payloadOf(answer) }
    },
  })
  return (
    <Page
      title={read.data?.event.event_type ?? t.crumb}
      crumbs={[
        <Link to="/t/$tenant/events" params={{ tenant }}>
          {text.events.title}
        </Link>,
        <Id value={id} />,
      ]}
      actions={read.data && <Actions tenant={tenant} read={read.data} />}
    >
      <Data of={read}>
        {({ event, payload }) => (
          <div className="split">
            <Deliveries tenant={tenant} event={event} />
            <div className="stack">
              <Card title={t.crumb} pad>
                <Facts
                  of={[
                    [t.accepted, <Time at={event.accepted_at} />],
                    [t.key, event.idempotency_key && <Id value={event.idempotency_key} />],
                    [t.trace, event.trace_id && <Id value={event.trace_id} />],
                    [t.expires, <Time at={event.expires_at} />],
                  ]}
                />
              </Card>
              <Payload event={event} payload={payload} />
            </div>
          </div>
        )}
      </Data>
    </Page>
  )
}

function Actions({ tenant, read: { event } }: { tenant: string; read: Read }) {
  const cache = useQueryClient()
  const path = { tenant, event: event.id }
  const refresh = () => cache.invalidateQueries({ queryKey: [tenant] })
  if (event.erased_at) return null
  return (
    <>
      {may('admin') && (
        <Confirm
          trigger={<Button look="danger">{t.erase}</Button>}
          title={t.eraseTitle}
          action={t.erase}
          danger
          run={async () => {
            await ask(api().DELETE('/v1/tenants/{tenant}/events/{event}/payload', { params: { path } }))
            tell(t.erasedDone)
            await refresh()
          }}
        >
          {t.eraseText}
        </Confirm>
      )}
      {may('replay') && <SendTo tenant={tenant} event={event} />}
      {event.endpoints.length > 1 && may('replay') && (
        <Confirm
          trigger={<Button>{t.replayAll}</Button>}
          title={t.replayAllTitle}
          action={t.replayAll}
          run={async () => {
            const { data } = await ask(api().POST('/v1/tenants/{tenant}/events/{event}/replay', { params: { path }, body: {} }))
            tell(t.replayedSome(data.filter((d) => !('error' in d)).length, data.length))
            await refresh()
          }}
        >
          {text.deliveries.replayText}
        </Confirm>
      )}
    </>
  )
}

/** Sends the event to one endpoint, whether or not the event had it. */
function SendTo({ tenant, event }: { tenant: string; event: Schemas['Event'] }) {
  const cache = useQueryClient()
  const [to, setTo] = useState('')
  return (
    <Confirm
      trigger={<Button>{t.sendTo}</Button>}
      title={t.sendToTitle}
      action={t.sendTo.replace('…', '')}
      disabled={!to}
      run={async () => {
        const answer = await ask(
          api().POST('/v1/tenants/{tenant}/events/{event}/replay', { params: { path: { tenant, event: event.id }, query: { endpoint: to } }, body: {} }),
        )
        const other = answer.data.find((d) => 'error' in d)
        if (other && 'error' in other) throw refused(other.error.status, other.error)
        tell(t.sent)
        await cache.invalidateQueries({ queryKey: [tenant] })
      }}
    >
      <div className="stack tight">
        <p>{t.sendToText}</p>
        <EndpointChoice tenant={tenant} name="endpoint" label={t.sendToEndpoint} value={to} choose={setTo} />
      </div>
    </Confirm>
  )
}

function Payload({ event, payload }: { event: Schemas['Event']; payload: string }) {
  if (event.erased_at) {
    return (
      <Card title={t.payload} pad>
        <p className="soft">
          {t.erased} <Time at={event.erased_at} />
        </p>
      </Card>
    )
  }
  return (
    <Card
      title={t.payload}
      aside={
        <span className="id soft small">
          {bytes(new TextEncoder().encode(payload).length)} {t.size}
          <CopyButton value={payload} label={t.payload} />
        </span>
      }
    >
      <Tabs.Root defaultValue="pretty">
        <Tabs.List className="tabs-list">
          <Tabs.Tab className="tab" value="pretty">
            {t.pretty}
          </Tabs.Tab>
          <Tabs.Tab className="tab" value="exact">
            {t.exact}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="pretty">
          <Json of={payload} />
        </Tabs.Panel>
        <Tabs.Panel value="exact">
          <pre className="code wrap" tabIndex={0}>
            {payload}
          </pre>
        </Tabs.Panel>
      </Tabs.Root>
    </Card>
  )
}

function Deliveries({ tenant, event }: { tenant: string; event: Schemas['Event'] }) {
  const { delivery: open, cursor } = useSearch({ from: '/t/$tenant/events/$event' })
  const navigate = useNavigate()
  const list = useQuery({
    queryKey: [tenant, 'event', event.id, 'deliveries', cursor],
    queryFn: () =>
      ask(api().GET('/v1/tenants/{tenant}/events/{event}/deliveries', { params: { path: { tenant, event: event.id }, query: { limit: mostCards, cursor } } })),
  })
  // An address may name a delivery of another page: it comes first.
  const elsewhere = !!open && !!list.data && !list.data.data.some((d) => d.id === open)
  const named = useQuery({
    queryKey: [tenant, 'event', event.id, 'delivery', open],
    queryFn: () => ask(api().GET('/v1/tenants/{tenant}/deliveries/{delivery}', { params: { path: { tenant, delivery: open ?? '' } } })),
    enabled: elsewhere,
  })
  return (
    <div className="stack">
      <h2>{t.deliveries}</h2>
      <Data of={list}>
        {({ data, next_cursor: next }) =>
          data.length === 0 ? (
            <Card>
              <Empty title={t.noDeliveries}>
                <p>{t.noDeliveriesText}</p>
              </Empty>
            </Card>
          ) : (
            <>
              {[...(elsewhere && named.data?.id === open ? [named.data] : []), ...data].map((d) => (
                <DeliveryCard
                  key={d.id}
                  tenant={tenant}
                  delivery={d}
                  open={open === undefined ? data.length <= 4 && !d.replayed_as : open === d.id}
                  onOpen={() => void navigate({ to: '.', search: { cursor, delivery: open === d.id ? '' : d.id }, replace: true, resetScroll: false })}
                />
              ))}
              <Pager cursor={cursor} next={next} />
            </>
          )
        }
      </Data>
    </div>
  )
}
