// Numbers, times and durations in the form of the reader's language. Dates name their zone.

import { locale } from './language'

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })
const share = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 })
const exactTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' })
const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
const clock = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' })
const hours = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' })
const days = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric' })
const dayHours = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' })
const spans = new Intl.DateTimeFormat(locale, { weekday: 'short', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' })
const untils = new Intl.DateTimeFormat(locale, { weekday: 'short', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' })
const rates = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 })
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })

export const count = (n: number) => whole.format(n)
export const compact = (n: number) => (n < 10_000 ? whole.format(n) : short.format(n))
export const percent = (n: number | undefined) => (n === undefined ? '–' : share.format(n))
export const exact = (at: string) => exactTime.format(new Date(at))
export const hour = (at: number) => hours.format(at)
export const day = (at: number) => days.format(at)
/** A span of time with its zone, to the last minute before until: "Thu 26 Nov, 23:00–23:59 GMT+1". */
export const span = (from: number, until: number) => spans.formatRange(from, until - 1)
/** The short name of the reader's time zone, such as CET. */
export const zone = () => clock.formatToParts().find((part) => part.type === 'timeZoneName')?.value ?? ''
/** A time to come: "Sun, Nov 22, 14:02". */
export const until = (at: string) => untils.format(new Date(at))
/** A rate: at most three digits. */
export const rate = (n: number) => rates.format(n)
/** A day in UTC, such as 2026-11-29. */
export const date = (on: string) => dates.format(new Date(on))
export const moment = (at: string) => clock.format(new Date(at))

/** "14:02" in the last 24 hours, "3 Mar, 14:02" before. */
export const since = (at: string, now: number) => (now - new Date(at).getTime() < 86_400_000 ? hours : dayHours).format(new Date(at))

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** "3 min ago" or "in 2 hr", so that a sentence can end with it. A moment less than 6 seconds ahead is now: the clock of a page may be that much behind. */
export function ago(at: string, now: number): string {
  const seconds = (new Date(at).getTime() - now) / 1000
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return said(Math.trunc(seconds / length), unit)
  }
  return said(seconds < 6 ? Math.min(0, Math.trunc(seconds)) : Math.trunc(seconds), 'second')
}

const said = (n: number, unit: Intl.RelativeTimeFormatUnit) => relative.format(n, unit).replace(/\./g, '')

const inUnit = (value: number, unit: string, digits: number, unitDisplay: 'short' | 'long' = 'short') =>
  new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay, maximumFractionDigits: digits }).format(value)

export function milliseconds(ms: number): string {
  if (ms > 0 && ms < 1) return `< ${inUnit(1, 'millisecond', 0)}`
  if (ms < 1000) return inUnit(Math.trunc(ms), 'millisecond', 0)
  if (ms < 60_000) return inUnit(ms / 1000, 'second', ms < 10_000 ? 2 : 1)
  if (ms < 3_600_000) return inUnit(ms / 60_000, 'minute', 1)
  if (ms >= 172_800_000) return inUnit(ms / 86_400_000, 'day', 1, 'long')
  return inUnit(ms / 3_600_000, 'hour', 1)
}

const goUnits: Record<string, number> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** A duration of the API for people. The API cuts some to whole milliseconds, so 0s is less than one. */
export const duration = (text: string) => milliseconds(goDuration(text) || 0.5)

/** The milliseconds of a duration of the API, such as "1h30m". */
export function goDuration(text: string): number {
  let ms = 0
  for (const [, n, unit] of text.matchAll(/([0-9.]+)(ns|us|µs|ms|s|m|h)/g)) ms += Number(n) * (goUnits[unit ?? ''] ?? 0)
  return ms
}

export const bytes = (n: number) => (n < 1024 ? inUnit(n, 'byte', 0, 'long') : inUnit(n / 1024, 'kilobyte', 1))
