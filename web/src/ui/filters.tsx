import { useNavigate } from '@tanstack/react-router'
import { zone } from '../format'
import { text } from '../text'
import { Button, Input, type Option, Select } from './controls'
import { Field } from './form'

type Search = Record<string, string | undefined>

/** Sets filters in the URL of the page. A changed filter starts at the first page of the list. */
export function useFilter() {
  const navigate = useNavigate()
  return (change: Search) => void navigate({ to: '.', search: (s: Search) => ({ ...s, cursor: undefined, ...change }), replace: true })
}

export function TextFilter({ name, label, value, placeholder }: { name: string; label: string; value?: string; placeholder?: string }) {
  const set = useFilter()
  return (
    <Field name={name} label={label}>
      <Input key={value ?? ''} defaultValue={value ?? ''} placeholder={placeholder} onBlur={(e) => e.currentTarget.value !== (value ?? '') && set({ [name]: e.currentTarget.value.trim() || undefined })} onKeyDown={(e) => e.key === 'Enter' && e.currentTarget.blur()} />
    </Field>
  )
}

/** none is the name of the choice without a filter. */
export function SelectFilter({ name, label, value, options, none = text.any }: { name: string; label: string; value?: string; options: Option<string>[]; none?: string }) {
  const set = useFilter()
  return (
    <div className="field">
      <span className="label">{label}</span>
      <Select label={label} value={value ?? 'any'} options={[{ value: 'any', label: none }, ...options]} onChange={(v) => set({ [name]: v === 'any' ? undefined : v })} />
    </div>
  )
}

// A time of the URL and of the API is RFC 3339 in UTC; the control shows the visitor's time, and its label the zone.
export const toLocal = (at?: string) => {
  if (!at || Number.isNaN(Date.parse(at))) return ''
  const d = new Date(at)
  return new Date(d.getTime() - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The time of the control in UTC; undefined for none. */
export const fromLocal = (at: string) => (at ? new Date(at).toISOString() : undefined)

export function TimeFilter({ name, label, value }: { name: string; label: string; value?: string }) {
  const set = useFilter()
  return (
    <Field name={name} label={`${label} (${zone()})`}>
      <Input type="datetime-local" key={value ?? ''} defaultValue={toLocal(value)} onBlur={(e) => e.currentTarget.value !== toLocal(value) && set({ [name]: fromLocal(e.currentTarget.value) })} />
    </Field>
  )
}

export function ClearFilters({ names, search }: { names: readonly string[]; search: Search }) {
  const set = useFilter()
  if (!names.some((n) => search[n])) return null
  return (
    <Button look="quiet" onClick={() => set(Object.fromEntries(names.map((n) => [n, undefined])))}>
      {text.deliveries.clear}
    </Button>
  )
}
