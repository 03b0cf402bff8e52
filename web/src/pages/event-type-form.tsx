import { useState } from 'react'
import { ApiError, type Schemas } from '../api/client'
import { pretty } from '../json'
import { failureOf, text } from '../text'
import { Button, CheckBox, Field, Form, Input, Select, TextArea } from '../ui/controls'
import { Card } from '../ui/page'
import { type Read, withShapes } from './event-type'

const t = text.types

type Choice = 'environment' | 'off' | 'warn' | 'reject'
type Props = { of?: Read; submit: (name: string, body: string) => Promise<void>; label: string }

/** The fields of an event type. Without of, the form has a field for the name. */
export function EventTypeForm({ of, submit, label }: Props) {
  const [validation, setValidation] = useState<Choice>(of?.type.validation ?? 'environment')
  const [archived, setArchived] = useState(of?.type.archived ?? false)
  const [failure, setFailure] = useState<ApiError | null>(null)
  const [busy, setBusy] = useState(false)
  const run = async (v: Record<string, string>) => {
    setBusy(true)
    setFailure(null)
    try {
      for (const field of ['schema', 'example']) requireJson(field, v[field] ?? '')
      const fields: Schemas['EventTypeFields'] = { description: v.description, group: v.group?.trim(), archived, ...(validation === 'environment' ? {} : { validation }) }
      await submit((v.event_type ?? '').trim(), withShapes(fields, (v.schema ?? '').trim(), (v.example ?? '').trim()))
    } catch (e) {
      setFailure(e as ApiError)
    } finally {
      setBusy(false)
    }
  }
  const named = ['event_type', 'description', 'group', 'schema', 'example', 'validation']
  // The API names a place in a schema by a JSON pointer, such as schema/properties/total.
  const error = (name: string) =>
    Object.entries(failure?.fields ?? {})
      .filter(([field]) => field === name || field.startsWith(`${name}/`))
      .map(([field, message]) => `${field === name ? '' : `${field.slice(name.length)}: `}${message}`)[0]
  return (
    <Card pad>
      <Form onValues={(values) => void run(values)}>
        {!of && (
          <Field name="event_type" label={t.name} help={t.nameHelp} error={error('event_type')}>
            <Input placeholder="order.paid" />
          </Field>
        )}
        <div className="pair">
          <Field name="description" label={t.description} error={error('description')}>
            <Input defaultValue={of?.type.description} />
          </Field>
          <Field name="group" label={t.group} error={error('group')}>
            <Input defaultValue={of?.type.group} placeholder="Billing" />
          </Field>
        </div>
        <Field name="schema" label={t.schema} help={t.schemaHelp} error={error('schema')}>
          <TextArea rows={10} defaultValue={indented(of?.schema)} />
        </Field>
        <Field name="example" label={t.example} help={t.exampleHelp} error={error('example')}>
          <TextArea rows={6} defaultValue={indented(of?.example)} />
        </Field>
        <div className="field">
          <span className="label">{t.validation}</span>
          <Select
            label={t.validation}
            value={validation}
            onChange={setValidation}
            options={[{ value: 'environment', label: t.byEnvironment }, ...(['off', 'warn', 'reject'] as const).map((value) => ({ value, label: t.validations[value] ?? value }))]}
          />
        </div>
        <CheckBox checked={archived} onChange={setArchived}>
          {t.archive}
        </CheckBox>
        {failure && !Object.keys(failure.fields).some((field) => named.includes(field.split('/')[0] ?? '')) && (
          <p className="notice bad" role="alert">
            {failureOf(failure)}
          </p>
        )}
        <div>
          <Button look="primary" type="submit" disabled={busy}>
            {label}
          </Button>
        </div>
      </Form>
    </Card>
  )
}

const indented = (json = '') =>
  pretty(json)
    .map((token) => token.text)
    .join('')

function requireJson(field: string, value: string) {
  if (!value.trim()) return
  try {
    JSON.parse(value)
  } catch {
    throw new ApiError(400, { errors: [{ field, message: t.noJson }] })
  }
}
