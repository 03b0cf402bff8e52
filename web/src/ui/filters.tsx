import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { ApiError } from '../api/client'
import { zone } from '../format'
import { text } from '../text'
import { Button, Input, type Option, Select } from './controls'
import { Field, Refusals } from './form'
import { EndpointChoice, Suggest } from './suggest'

type Search = Record<string, string | undefined>

/** Sets filters in the URL of the page. A changed filter starts at the first page of the list. */
export function useFilter() {
  const navigate = useNavigate()
  return (change: Search) => void navigate({ to: '.', search: (s: Search) => ({ ...s, cursor: undefined, ...change }), replace: true })
}

type FiltersProps = {
  /** The names of the filters, and the search of the URL with their values. */
  names: readonly string[]
  search: Search
  /** Why the API refused the list: its messages appear at the filters. */
  error: unknown
  /** Buttons after the filters. */
  actions?: ReactNode
  children: ReactNode
}

/** The filters of a list. On a phone a button shows them, with the number of those in use. */
export function Filters({ names, search, error, actions, children }: FiltersProps) {
  const set = useFilter()
  const used = names.filter((n) => search[n]).length
  const refused = (error as ApiError | null)?.fields ?? {}
  const [open, setOpen] = useState(false)
  return (
    <div className={`filters ${open || names.some((n) => refused[n]) ? 'open' : ''}`} role="search">
      <Button className="opener" aria-expanded={open} onClick={() => setOpen(!open)}>
        {text.filters.open(used)}
      </Button>
      <Refusals of={refused}>{children}</Refusals>
      {used > 0 && (
        <Button look="quiet" onClick={() => set(Object.fromEntries(names.map((n) => [n, undefined])))}>
          {text.filters.clear}
        </Button>
      )}
      {actions}
    </div>
  )
}

type FilterProps = { name: string; label: string; value?: string }

/** A filter by endpoint. */
export function EndpointFilter(props: FilterProps & { tenant: string }) {
  const set = useFilter()
  return <EndpointChoice {...props} placeholder={text.any} choose={(value) => set({ [props.name]: value || undefined })} />
}

/** A filter by a text with suggestions. */
export function SuggestFilter(props: FilterProps & { options: Option<string>[]; placeholder?: string }) {
  const set = useFilter()
  return <Suggest {...props} choose={(value) => set({ [props.name]: value || undefined })} />
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

const ranges = [1, 24, 168] // hours

/** The bounds of the times of a list. A quick range sets the first one. */
export function TimeFilters({ since, until }: { since?: string; until?: string }) {
  const set = useFilter()
  const last = (hours: number) => set({ since: new Date(Math.floor(Date.now() / 60_000) * 60_000 - hours * 3_600_000).toISOString(), until: undefined })
  return (
    <div className="times">
      <div className="field" role="group" aria-label={text.filters.last}>
        <span className="label">{text.filters.last}</span>
        <div className="ranges">
          {ranges.map((hours) => (
            <Button key={hours} onClick={() => last(hours)}>
              {text.filters.ranges[hours]}
            </Button>
          ))}
        </div>
      </div>
      <TimeFilter name="since" label={text.deliveries.since} value={since} />
      <TimeFilter name="until" label={text.deliveries.until} value={until} />
    </div>
  )
}

function TimeFilter({ name, label, value }: { name: string; label: string; value?: string }) {
  const set = useFilter()
  return (
    <Field name={name} label={`${label} (${zone()})`}>
      <Input type="datetime-local" key={value ?? ''} defaultValue={toLocal(value)} onBlur={(e) => e.currentTarget.value !== toLocal(value) && set({ [name]: fromLocal(e.currentTarget.value) })} />
    </Field>
  )
}
