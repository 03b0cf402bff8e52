import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ApiError, ask, askWith, type Schemas } from '../api/client'
import { type ReadEventType, useEventType } from '../api/reads'
import { fieldOf, indented } from '../json'
import { isPortal, may, session } from '../session'
import { text } from '../text'
import { Button, CopyButton } from '../ui/controls'
import { Confirm } from '../ui/dialog'
import { Json } from '../ui/json'
import { Card, Facts, Page } from '../ui/page'
import { Data } from '../ui/states'
import { Time } from '../ui/time'
import { tell, tellFailure } from '../ui/toast'
import { EventTypeForm } from './event-type-form'
import { mayChangeTypes, Validation } from './event-types'
import { SendDialog } from './send'

const t = text.types

const path = (type: string) => `/v1/event-types/${encodeURIComponent(type)}`
const crumb = <Link to="/event-types">{t.title}</Link>

export function EventTypePage() {
  const { type: name } = useParams({ from: '/event-types/$type' })
  const read = useEventType(name)
  return (
    <Page title={name} crumbs={[crumb, name]} lead={read.data?.type.description} actions={read.data && (mayChangeTypes() ? <Remove of={read.data} /> : <SendTest type={name} />)}>
      <Data of={read}>
        {(r) =>
          isPortal ? (
            <Shapes of={r} />
          ) : (
          <div className="split">
            {mayChangeTypes() ? <Settings key={name} of={r} /> : <Shapes of={r} />}
            <div className="stack">
              <Card pad>
                <Facts
                  of={[
                    [t.group, r.type.group],
                    [t.validation, <Validation of={r.type} />],
                    [t.version, String(r.type.version)],
                    [t.made, <Time at={r.type.created_at} />],
                    [t.changed, <Time at={r.type.updated_at} />],
                  ]}
                />
              </Card>
              {mayChangeTypes() && <Shapes of={r} />}
            </div>
          </div>
          )
        }
      </Data>
    </Page>
  )
}

/** Sends the type's example to an endpoint of the user's choice. */
function SendTest({ type }: { type: string }) {
  const [open, setOpen] = useState(false)
  const tenant = session()?.tenant
  if (!tenant || !may('endpoints:write')) return null
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        {text.events.send}
      </Button>
      <SendDialog tenant={tenant} type={type} open={open} onOpenChange={setOpen} />
    </>
  )
}

/** The form with the event type as it was at the begin: a change by another in the meantime is a refusal, not lost input. */
function Settings({ of }: { of: ReadEventType }) {
  const cache = useQueryClient()
  const [base, setBase] = useState(of)
  const save = async (_: string, body: string) => {
    const type = await askWith<ReadEventType['type']>('PUT', path(base.type.event_type), body, { 'if-match': `"${base.type.version}"` })
    setBase({ type, schema: fieldOf(body, 'schema'), example: fieldOf(body, 'example') })
    tell(t.saved)
    await cache.invalidateQueries()
  }
  return <EventTypeForm key={base.type.version} of={base} submit={save} label={text.save} />
}

function Copy({ value, label }: { value: string; label: string }) {
  return (
    <span className="id">
      <CopyButton value={indented(value)} label={label} />
    </span>
  )
}

/** The example and the schema of the payload. */
function Shapes({ of: r }: { of: ReadEventType }) {
  return (
    <div className="stack">
      <Card title={t.example} aside={r.example && <Copy value={r.example} label={t.example} />}>
        {r.example ? <Json of={r.example} label={t.example} /> : <p className="body soft">{t.noExample}</p>}
      </Card>
      <Card title={t.schema} aside={r.schema && <Copy value={r.schema} label={t.schema} />}>
        {r.schema ? <Json of={r.schema} label={t.schema} /> : <p className="body soft">{t.noSchema}</p>}
      </Card>
    </div>
  )
}

function Remove({ of: { type, schema, example } }: { of: ReadEventType }) {
  const navigate = useNavigate()
  const cache = useQueryClient()
  const { description, group, archived, validation } = type
  const again = async () => {
    await askWith('PUT', path(type.event_type), withShapes({ description, group, archived, validation }, schema, example))
    await cache.invalidateQueries()
  }
  return (
    <Confirm
      trigger={<Button look="danger">{t.remove}</Button>}
      title={t.removeTitle}
      action={t.remove}
      danger
      run={async () => {
        await ask(api().DELETE('/v1/event-types/{type}', { params: { path: { type: type.event_type }, header: { 'If-Match': `"${type.version}"` } } }))
        tell(t.removed, () => void again().catch(tellFailure))
        await navigate({ to: '/event-types' })
        await cache.invalidateQueries({ queryKey: ['event-types'] })
      }}
    >
      {t.removeText}
    </Confirm>
  )
}

/** The body of a request with the schema and the example as their texts. */
export function withShapes(fields: Schemas['EventTypeFields'], schema: string, example: string): string {
  const shapes = [schema && `,"schema":${schema}`, example && `,"example":${example}`].join('')
  return JSON.stringify({ archived: false, ...fields }).replace(/}$/, () => `${shapes}}`)
}

export function NewEventType() {
  const navigate = useNavigate()
  const cache = useQueryClient()
  const create = async (name: string, body: string) => {
    if (!name) throw new ApiError(400, { errors: [{ field: 'event_type', message: t.missing }] })
    const known = await ask(api().GET('/v1/event-types/{type}', { params: { path: { type: name } } })).catch((e: ApiError) => {
      if (e.status !== 404) throw e
    })
    if (known) throw new ApiError(409, { errors: [{ field: 'event_type', message: t.exists }] })
    await askWith('PUT', path(name), body)
    tell(t.saved)
    await cache.invalidateQueries({ queryKey: ['event-types'] })
    await navigate({ to: '/event-types/$type', params: { type: name } })
  }
  return (
    <Page title={t.create} crumbs={[crumb, t.create]}>
      <EventTypeForm submit={create} label={t.create} />
    </Page>
  )
}
