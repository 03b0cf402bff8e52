import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { askWith, type Schemas } from '../api/client'
import { type Endpoint, useEndpoints, useEventType, useEventTypes } from '../api/reads'
import { indented } from '../json'
import { text } from '../text'
import { Button, Input, Select, TextArea } from '../ui/controls'
import { Dialog } from '../ui/dialog'
import { Field, Form, requireJson, type Values } from '../ui/form'
import { Data, Empty } from '../ui/states'
import { EndpointChoice } from '../ui/suggest'
import { tell } from '../ui/toast'

const t = text.events

const testType = 'webhook.test'

// No name of a type has a space.
const another = 'another type'

type Props = { tenant: string; endpoint?: string; type?: string; open: boolean; onOpenChange: (open: boolean) => void }

/** Posts an event of the tenant, or a test event of one endpoint. With a type, its user chooses the endpoint. */
export function SendDialog({ open, onOpenChange, ...of }: Props) {
  return (
    <Dialog title={t.sendTitle} open={open} onOpenChange={onOpenChange}>
      {of.type ? (
        <TestForm tenant={of.tenant} type={of.type} close={() => onOpenChange(false)} />
      ) : (
        <>
          <p className="soft">{of.endpoint ? t.testText : t.sendText}</p>
          <SendForm {...of} close={() => onOpenChange(false)} />
        </>
      )}
    </Dialog>
  )
}

/** A test event of one type, to an endpoint of the user's choice. */
function TestForm({ tenant, type, close }: { tenant: string; type: string; close: () => void }) {
  const [chosen, setChosen] = useState('')
  const endpoints = useEndpoints(tenant)
  return (
    <Data of={endpoints}>
      {([first, ...more]) =>
        first ? (
          <>
            <p className="soft">{t.testText}</p>
            <EndpointChoice tenant={tenant} name="endpoint" label={text.deliveries.endpoint} value={chosen || alone(first, more)} choose={setChosen} />
            <SendForm tenant={tenant} endpoint={chosen || alone(first, more)} type={type} close={close} />
          </>
        ) : (
          <Empty title={text.tenant.none}>
            <Link className="button primary" to="/t/$tenant/new-endpoint" params={{ tenant }}>
              {text.endpoints.create}
            </Link>
          </Empty>
        )
      }
    </Data>
  )
}

const alone = (first: Endpoint, more: Endpoint[]) => (more.length > 0 ? '' : first.id)

/** Without an endpoint the event is the tenant's; an empty one is still to be chosen. */
function SendForm({ tenant, endpoint, type: only, close }: { tenant: string; endpoint?: string; type?: string; close: () => void }) {
  const navigate = useNavigate()
  const cache = useQueryClient()
  const tests = endpoint !== undefined
  const [type, setType] = useState(only ?? (tests ? testType : 'order.paid'))
  const [chosen, setChosen] = useState<string>() // of the list
  const [written, setWritten] = useState<string>() // by the user, instead of the example
  const known = useEventTypes()
  const described = (known.data?.data ?? []).map((e) => e.event_type)
  const types = [...new Set(tests ? [testType, ...described] : described)]
  const other = chosen === undefined ? !types.includes(type) : chosen === another
  const example = indented(useEventType(type, described.includes(type)).data?.example)
  const payload = written ?? (example || (tests ? '' : '{\n  "order": 4711\n}'))
  const choose = (choice: string) => {
    setChosen(choice)
    setType(choice === another ? '' : choice)
  }
  const submit = async (values: Values) => {
    // The example needs no right to send a payload of one's own.
    const accepted = await post(tenant, endpoint, tests && values.payload === example ? { ...values, payload: '' } : values)
    close()
    if (!tests) tell(t.sent(accepted.deliveries)) // a test shows on the next page
    await cache.invalidateQueries({ queryKey: [tenant] })
    void navigate({ to: '/t/$tenant/events/$event', params: { tenant, event: accepted.id } })
  }
  return (
    <Form submit={submit} label={t.submit} cancel={close} disabled={endpoint === ''}>
      {only ? (
        <input type="hidden" name="event_type" value={only} />
      ) : types.length > 0 && (
        <Field name={other ? another : 'event_type'} label={t.type}>
          <Select label={t.type} value={other ? another : type} onChange={choose} options={[...types.map((name) => ({ value: name, label: name })), ...(tests && !known.data?.next_cursor ? [] : [{ value: another, label: t.another }])]} />
        </Field>
      )}
      {!only && other && (
        <Field name="event_type" label={types.length > 0 ? t.anotherType : t.type}>
          <Input value={type} onChange={(e) => setType(e.currentTarget.value)} />
        </Field>
      )}
      <Field name="payload" label={t.payload} help={tests && t.payloadHelp}>
        <TextArea rows={8} value={payload} onChange={(e) => setWritten(e.currentTarget.value)} />
      </Field>
      {example && payload !== example && (
        <Button look="quiet" className="fold" onClick={() => setWritten(undefined)}>
          {t.example}
        </Button>
      )}
    </Form>
  )
}

/** The payload goes out byte for byte, so the body is text and not an object. */
async function post(tenant: string, endpoint: string | undefined, { event_type = '', payload = '' }: Values): Promise<Schemas['Accepted']> {
  requireJson('payload', payload)
  const of = `/v1/tenants/${encodeURIComponent(tenant)}`
  const path = endpoint ? `${of}/endpoints/${encodeURIComponent(endpoint)}/test` : `${of}/events`
  return askWith('POST', path, `{"event_type":${JSON.stringify(event_type.trim())}${payload.trim() && `,"payload":${payload}`}}`)
}
