import { useState } from 'react'
import type { Schemas } from '../api/client'
import { text } from '../text'
import { CheckBox, Input } from '../ui/controls'
import { Field, numeric, type Values } from '../ui/form'

const t = text.form

/** How the events of a window share requests, when they do. */
export function CoalesceFields({ of }: { of?: Schemas['Coalescing'] }) {
  const [on, setOn] = useState(!!of)
  return (
    <>
      <CheckBox checked={on} onChange={setOn}>
        {t.coalesce}
      </CheckBox>
      {on && (
        <div className="pair">
          <Field name="coalesce.window" label={t.window} help={t.windowHelp}>
            <Input defaultValue={of?.window ?? '5s'} />
          </Field>
          <Field name="coalesce.max_events" label={t.maxEvents} help={t.maxEventsHelp}>
            <Input defaultValue={of?.max_events ?? 100} inputMode="numeric" />
          </Field>
          <Field name="coalesce.max_bytes" label={t.maxBytes} help={t.maxBytesHelp}>
            <Input defaultValue={of?.max_bytes ?? 262_144} inputMode="numeric" />
          </Field>
        </div>
      )}
    </>
  )
}

/** The coalescing as chosen; undefined when there is none, and was none. */
export function coalesceOf(values: Values, of?: Schemas['Coalescing']): Schemas['Coalesce'] | undefined {
  const window = values['coalesce.window']
  if (window === undefined) return of && { window: '0s' }
  const { 'coalesce.max_events': events = '', 'coalesce.max_bytes': bytes = '' } = values
  return {
    window: window.trim(),
    ...(events.trim() && { max_events: numeric(events) }),
    ...(bytes.trim() && { max_bytes: numeric(bytes) }),
  }
}
