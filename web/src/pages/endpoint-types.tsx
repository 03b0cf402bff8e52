import { Fragment, useState } from 'react'
import type { Schemas } from '../api/client'
import { useEventTypes } from '../api/reads'
import { isPortal } from '../session'
import { text } from '../text'
import { CheckBox, TextArea } from '../ui/controls'
import { Field, useRefusal } from '../ui/form'
import { Loading } from '../ui/states'

const t = text.form

type EventType = Schemas['EventType']

const every = '*'

/**
 * The events of an endpoint: patterns, one per line. A customer gets a list of the catalogue
 * instead, if the list has all that is chosen.
 */
export function TypesField({ of = [every] }: { of?: string[] }) {
  const known = useEventTypes()
  if (isPortal && known.isPending) return <Loading />
  const listed = known.data?.data ?? []
  const whole = listed.length > 0 && !known.data?.next_cursor
  const names = new Set([every, ...listed.map((e) => e.event_type)])
  if (isPortal && whole && of.every((name) => names.has(name))) return <Checklist of={of} listed={listed} />
  return (
    <Field name="event_types" label={t.types} help={t.typesHelp}>
      <TextArea rows={3} defaultValue={of.join('\n')} />
    </Field>
  )
}

function Checklist({ of, listed }: { of: string[]; listed: EventType[] }) {
  const all = listed.map((e) => e.event_type)
  const [chosen, setChosen] = useState(of.includes(every) ? null : of) // null: all, also those to come
  const refusal = useRefusal('event_types')
  const groups = [...new Set(listed.map((e) => e.group ?? ''))].sort()
  const choose = (name: string, on: boolean) => setChosen((now) => (on ? [...(now ?? all), name] : (now ?? all).filter((n) => n !== name)))
  return (
    <fieldset className="field plain">
      <legend>{t.events}</legend>
      <input type="hidden" name="event_types" value={(chosen ?? [every]).join('\n')} />
      <CheckBox checked={chosen === null} onChange={(on) => setChosen(on ? null : [])}>
        {t.allEvents}
      </CheckBox>
      <div className="checklist">
        {groups.map((group) => (
          <Fragment key={group}>
            {group && <h3>{group}</h3>}
            {listed
              .filter((e) => (e.group ?? '') === group)
              .map((e) => (
                <CheckBox key={e.event_type} checked={chosen === null || chosen.includes(e.event_type)} onChange={(on) => choose(e.event_type, on)}>
                  <code>{e.event_type}</code> {e.description && <span className="soft small">{e.description}</span>}
                </CheckBox>
              ))}
          </Fragment>
        ))}
      </div>
      {refusal && <p className="wrong">{refusal}</p>}
    </fieldset>
  )
}
