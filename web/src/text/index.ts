import type { ApiError } from '../api/client'
import { language } from '../language'
import { isPortal } from '../session'
import * as en from './en'

// Without the file of a language the page speaks English.
const other = language === 'de' ? await import('./de').catch(() => undefined) : undefined

/** The words of the page in its language. A customer reads plainer words than an operator. */
export const text = [isPortal && en.customer, other?.words, isPortal && other?.customer].reduce((all: en.Words, some) => (some ? merged(all, some) : all), en.words)

/** A sentence of the API in the language of the page. */
export const said = (sentence: string) => (sentence && other ? other.said(sentence) : sentence)

function merged<T extends object>(base: T, over: object): T {
  const all = { ...base } as Record<string, unknown>
  for (const [name, value] of Object.entries(over)) {
    const before = all[name]
    all[name] = before && typeof before === 'object' ? merged(before, value as object) : value
  }
  return all as T
}

/** The sentence for a failure: the API's own, or a text for failures without one. */
export function failureOf(e: ApiError): string {
  if (e.code === 'offline') return text.failures.offline
  if (e.status === 401) return text.failures.unauthorized
  if (e.status === 412) return text.failures.changed
  if (e.status === 404 && !e.message) return text.failures.notFound
  const fields = Object.entries(e.fields).map(([field, message]) => `${field} ${message}`)
  if (fields.length > 0) return fields.join('; ')
  return text.failures.codes[e.code] ?? (e.message || (e.status === 429 ? text.failures.throttled : text.failures.internal))
}
