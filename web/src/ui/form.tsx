import { Field as BaseField } from '@base-ui/react/field'
import { createContext, type ReactNode, useContext, useState } from 'react'
import { ApiError } from '../api/client'
import { failureOf, text } from '../text'
import { Button } from './controls'

/** The values of a form by the names of its controls. */
export type Values = Record<string, string>

/** Why the API refused a form: a message for each control, and a sentence about all else. */
type Refusal = { at: Record<string, string>; sentence: string }

const Refused = createContext<Refusal | null>(null)

type FormProps = {
  /** Gets the values; throws ApiError for a refusal. */
  submit: (values: Values) => Promise<unknown>
  /** The text of the button that submits. */
  label: string
  /** Closes the form without a submit; without cancel, the form has one button. */
  cancel?: () => void
  cancelLabel?: string
  disabled?: boolean
  danger?: boolean
  /** Further buttons of type submit. Their names and values are among the values. */
  more?: ReactNode
  children: ReactNode
}

/**
 * A form whose values the API checks. A refusal shows its messages at the controls, and a sentence at the end for what
 * has no control. The name of a control is the field of the API, such as circuit.failures.
 */
export function Form({ submit, label, cancel, cancelLabel = text.keep, disabled, danger, more, children }: FormProps) {
  const [refusal, setRefusal] = useState<Refusal | null>(null)
  const [busy, setBusy] = useState(false)
  const run = async (values: Values) => {
    setBusy(true)
    setRefusal(null)
    try {
      await submit(values)
    } catch (failure) {
      setRefusal(refusalOf(failure as ApiError, Object.keys(values)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      className="form"
      noValidate
      onSubmit={(e) => {
        e.preventDefault()
        void run(Object.fromEntries([...new FormData(e.currentTarget, (e.nativeEvent as SubmitEvent).submitter)].map(([name, value]) => [name, String(value)])))
      }}
    >
      <Refused value={refusal}>{children}</Refused>
      {refusal?.sentence && (
        <p className="notice bad" role="alert">
          {refusal.sentence}
        </p>
      )}
      <div className="buttons">
        {cancel && <Button onClick={cancel}>{cancelLabel}</Button>}
        {more}
        <Button look={danger ? 'primary danger' : 'primary'} type="submit" disabled={busy || disabled}>
          {label}
        </Button>
      </div>
    </form>
  )
}

type FieldProps = { name: string; label: string; help?: ReactNode; children: ReactNode }

/** A labelled control with the API's message about its value. */
export function Field({ name, label, help, children }: FieldProps) {
  const error = useRefusal(name)
  return (
    <BaseField.Root name={name} invalid={!!error} className="field">
      <BaseField.Label>{label}</BaseField.Label>
      {children}
      {help && !error && <BaseField.Description className="help">{help}</BaseField.Description>}
      {error && (
        <BaseField.Error match className="wrong">
          {error}
        </BaseField.Error>
      )}
    </BaseField.Root>
  )
}

/** The API's message about the control of the form. */
export const useRefusal = (name: string) => useContext(Refused)?.at[name]

/** Refuses JSON that nobody can read, before it becomes a part of a request. */
export function requireJson(name: string, value: string) {
  if (!value.trim()) return
  try {
    JSON.parse(value)
  } catch {
    throw new ApiError(400, { errors: [{ field: name, message: text.noJson }] })
  }
}

/** The number of a text. A text that is no number stays, so the API says what is wrong. */
export const numeric = (value: string) => (value.trim() === '' || Number.isNaN(Number(value)) ? (value as unknown as number) : Number(value))

function refusalOf(failure: ApiError, names: string[]): Refusal {
  const at: Record<string, string> = {}
  const rest: string[] = []
  for (const [field, message] of Object.entries(failure.fields)) {
    const name = controlOf(field, names)
    if (name === undefined) rest.push(`${field} ${message}`)
    else at[name] ??= placed(field.slice(name.length), message)
  }
  return { at, sentence: rest.length > 0 ? rest.join('; ') : Object.keys(at).length > 0 ? '' : failureOf(failure) }
}

/** The control of a field: its own, the one that holds it, or the first one of those that it holds. */
function controlOf(field: string, names: string[]): string | undefined {
  const holders = names.filter((name) => within(field, name)).sort((a, b) => b.length - a.length)
  return holders[0] ?? names.find((name) => within(name, field))
}

// The API names a place by a path, such as retry.schedule[1] or schema/properties/total.
const within = (field: string, name: string) => field === name || (field.startsWith(name) && './['.includes(field[name.length]!))

/** A message with the place in the control's value: a line of a list by its number, all else by the path. */
function placed(place: string, message: string): string {
  const line = /^\[(\d+)\]$/.exec(place)
  if (line) return `${Number(line[1]) + 1}: ${message}`
  return place ? `${place.replace(/^\./, '')}: ${message}` : message
}
