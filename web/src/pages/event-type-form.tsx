import { useState } from 'react'
import type { Schemas } from '../api/client'
import type { ReadEventType } from '../api/reads'
import { indented } from '../json'
import { text } from '../text'
import { CheckBox, Input, Select, TextArea } from '../ui/controls'
import { Field, Form, requireJson, type Values } from '../ui/form'
import { Card } from '../ui/page'
import { withShapes } from './event-type'

const t = text.types

type Choice = 'environment' | 'off' | 'warn' | 'reject'
type Props = { of?: ReadEventType; submit: (name: string, body: string) => Promise<void>; label: string }

/** The fields of an event type. Without of, the form has a field for the name. */
export function EventTypeForm({ of, submit, label }: Props) {
  const [archived, setArchived] = useState(of?.type.archived ?? false)
  const run = (v: Values) => {
    const { schema = '', example = '', event_type = '' } = v
    requireJson('schema', schema)
    requireJson('example', example)
    const validation = v.validation as Choice
    const fields: Schemas['EventTypeFields'] = { description: v.description, group: v.group?.trim(), archived, ...(validation === 'environment' ? {} : { validation }) }
    return submit(event_type.trim(), withShapes(fields, schema.trim(), example.trim()))
  }
  return (
    <Card pad>
      <Form submit={async (values) => run(values)} label={label}>
        {!of && (
          <Field name="event_type" label={t.name} help={t.nameHelp}>
            <Input placeholder="order.paid" />
          </Field>
        )}
        <div className="pair">
          <Field name="description" label={t.description}>
            <Input defaultValue={of?.type.description} />
          </Field>
          <Field name="group" label={t.group}>
            <Input defaultValue={of?.type.group} placeholder="Billing" />
          </Field>
        </div>
        <Field name="schema" label={t.schema} help={t.schemaHelp}>
          <TextArea rows={10} defaultValue={indented(of?.schema)} />
        </Field>
        <Field name="example" label={t.example} help={t.exampleHelp}>
          <TextArea rows={6} defaultValue={indented(of?.example)} />
        </Field>
        <Field name="validation" label={t.validation}>
          <Select
            label={t.validation}
            defaultValue={of?.type.validation ?? 'environment'}
            options={[{ value: 'environment', label: t.byEnvironment }, ...(['off', 'warn', 'reject'] as const).map((value) => ({ value, label: t.validations[value] ?? value }))]}
          />
        </Field>
        <CheckBox checked={archived} onChange={setArchived}>
          {t.archive}
        </CheckBox>
      </Form>
    </Card>
  )
}
