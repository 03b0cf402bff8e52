import { Field as BaseField } from '@base-ui/react/field'
import { createContext, type ReactNode, useContext, useState } from 'react'
import { ApiError } from '../api/client'
import { failureOf, text } from '../text'
import { Button } from './controls'

/** The values of a form, by the names of its controls. */
export type Values = Record<string, string>

/** Why the API refused a form: messages by control, and a sentence for what has no control. */
type Refusal = { at: Record<string, string>; sentence: string }

const Refused = createContext<Refusal | null>(null)

type FormProps = {
  /** Sends the values. Throws ApiError if the API refuses them. */
  submit: (values: Values) => Promise<unknown>
  /** The text of the button that submits. */
  label: string
  /** Closes the form without submitting it. Without it, the form has no button for that. */
  cancel?: () => void
  cancelLabel?: string
  disabled?: boolean
  danger?: boolean
  /** The buttons stay in sight below a long form. */
  inSight?: boolean
  /** The page does not advise to submit. */
  plain?: boolean
  /** Further submit buttons. The name and value of the one that was used are among the values. */
  more?: ReactNode
  children: ReactNode
}

/**
 * A form whose values the API checks. If it refuses them, its messages appear at the controls, and a sentence at the end
 * says what belongs to no control. Each control has the name of the API's field, such as circuit.failures.
 */
export function Form({ submit, label, cancel, cancelLabel = text.keep, disabled, danger, inSight, plain, more, children }: FormProps) {
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
      className={inSight ? 'form in-sight' : 'form'}
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
        <Button look={plain ? undefined : danger ? 'primary danger' : 'primary'} type="submit" disabled={busy || disabled}>
          {label}
        </Button>
      </div>
    </form>
  )
}

type FieldProps = { name: string; label: string; help?: ReactNode; children: ReactNode }

/** A labelled control. The API's message about its value replaces the help. */
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

/** Shows messages at the controls with their names, outside of a form. */
export const Refusals = ({ of, children }: { of: Record<string, string>; children: ReactNode }) => <Refused value={{ at: of, sentence: '' }}>{children}</Refused>

/** The API's message about a control of the form; undefined without one. */
export const useRefusal = (name: string) => useContext(Refused)?.at[name]

/** Throws ApiError for a text that is not valid JSON, before it becomes part of a request. An empty text is fine. */
export function requireJson(name: string, value: string) {
  if (!value.trim()) return
  try {
    JSON.parse(value)
  } catch {
    throw new ApiError(400, { errors: [{ field: name, message: text.noJson }] })
  }
}

/** The number that a text means. Any other text is returned as it is, so that the API says what is wrong with it. */
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

/** The control for a field of the API: the one with its name, else one for a part that contains it, else one for a part of it. */
function controlOf(field: string, names: string[]): string | undefined {
  const holders = names.filter((name) => within(field, name)).sort((a, b) => b.length - a.length)
  return holders[0] ?? names.find((name) => within(name, field))
}

// Whether the field is the named one or a part of it, such as retry.schedule[1] or schema/properties/total.
const within = (field: string, name: string) => field === name || (field.startsWith(name) && './['.includes(field[name.length]!))

/** A message after the place within the control's value: the number of a line, or a path. */
function placed(place: string, message: string): string {
  const line = /^\[(\d+)\]$/.exec(place)
  if (line) return `${Number(line[1]) + 1}: ${message}`
  return place ? `${place.replace(/^\./, '')}: ${message}` : message
}
