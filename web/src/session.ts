// Who is signed in, and how the page looks. The API is at the page's own address: the
// page's policy permits no other, but for the issuer of people's tokens. The key or token is
// in this tab only: in sessionStorage, which a browser empties with the tab.

import { useSyncExternalStore } from 'react'
import type { Schemas } from './api/client'
import { tellEnded } from './embed'
import { firstLink } from './link'

export type Mode = 'console' | 'portal'
export type Scope = Schemas['Caller']['scopes'][number]
export type Session = {
  /** An API key, or the token of a person. */
  key: string
  tenant: string
  /**
   * Who signed in at the issuer: the end of the token by the clock of this machine, and what
   * brings the next token. After the end the page stays, for what was typed, until the person
   * signs in again or out.
   */
  person?: { id: string; name: string; scopes: Scope[]; ends: number; refresh?: string; ended?: true }
  /** Whose API key it is. */
  caller?: { id: string; name: string; scopes: Scope[] }
  /** The name of the deployment. */
  environment?: string
  /** Of the key of a portal link: its id, its scopes, and its end by the clock of this machine. */
  link?: { id: string; scopes: Scope[]; ends: number }
}

/** Why there is no session: it ended, or the link opened none, or there was no link. */
export type End = 'expired' | 'refused' | 'signed_out' | 'used' | 'unknown' | 'none'

// The server decides by the decoded path who may embed the page in a frame, so only the exact path shows the console.
export const mode: Mode = /^\/console(\/|$)/.test(location.pathname) ? 'console' : 'portal'
export const isPortal = mode === 'portal'

const slot = (name: string) => `surehook-${mode}${name && `-${name}`}`
let end: End | undefined
let endOf = '' // the tenant of a stored session that had already ended
let timer: ReturnType<typeof setTimeout> | undefined
let current = stored()
watch()

/**
 * Keeps a value for this tab; null removes the value. A browser may refuse storage to a page in
 * a frame; then nothing survives a reload.
 */
export function keep(name: string, value: string | null) {
  try {
    if (value === null) sessionStorage.removeItem(slot(name))
    else sessionStorage.setItem(slot(name), value)
  } catch {
    // as above
  }
}

/** The kept value; null without one. */
export function kept(name: string): string | null {
  try {
    return sessionStorage.getItem(slot(name))
  } catch {
    return null
  }
}

/** A setting in the address of the page, such as lang. It is kept for this tab until the next link. */
export function asked(name: string): string | null {
  const given = new URLSearchParams(location.search).get(name)
  if (given !== null || firstLink) keep(name, given)
  return given ?? kept(name)
}

/** Whether the portal is a part of the page around its frame, without a menu at the side. */
export const embedded = isPortal && asked('embed') === '1'
if (embedded) document.documentElement.dataset.embed = ''

function store(value: string | null) {
  keep('', value)
}

function stored(): Session | null {
  try {
    const text = kept('')
    const open = text ? (JSON.parse(text) as Session) : null
    const ends = open?.link?.ends ?? (open?.person && !open.person.refresh ? open.person.ends : Infinity)
    if (!open || ends > Date.now()) return open
    end = 'expired'
    endOf = open.tenant
    store(null)
    return null
  } catch {
    return null
  }
}

// Ends the session with its key, and not with the next request.
function watch() {
  clearTimeout(timer)
  const key = current?.key
  const ends = current?.link?.ends ?? (current?.person?.ended ? undefined : current?.person?.ends)
  if (ends) timer = setTimeout(() => endSession('expired', key), Math.min(ends - Date.now(), 2 ** 31 - 1)) // the longest timer
}

const listeners = new Set<() => void>()
let changes = 0

/** Tells the page that who is signed in, or what a link does, has changed. */
export function changed() {
  changes++
  for (const listener of listeners) listener()
}

/** Renders the component again after each change. */
export function useChanges() {
  useSyncExternalStore(subscribe, () => changes)
}

export function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

export function session(): Session | null {
  return current
}

/** Why there is no session; undefined before the first. */
export const ended = () => end

/** Tells the page around a frame that the frame has loaded without a session. */
export const tellNoSession = () => tellEnded(end ?? 'none', endOf)

export function signIn(next: Session) {
  current = next
  end = undefined
  store(JSON.stringify(next))
  watch()
  changed()
}

/** Ends the session of the key; a session that began meanwhile stays. */
export function endSession(why: End, key: string | undefined) {
  if (!current || current.key !== key) return
  const { tenant, link, person } = current
  if (person && why !== 'signed_out') {
    current = { ...current, person: { ...person, ended: true } }
    watch()
    changed()
    return
  }
  end = why === 'refused' && link && link.ends - Date.now() < 5_000 ? 'expired' : why
  current = null
  store(null)
  watch()
  if (isPortal) tellEnded(end, tenant)
  changed()
}

/** Whether the session has the scope. */
export function may(scope: Scope) {
  const scopes = current?.link?.scopes ?? current?.person?.scopes ?? current?.caller?.scopes
  return !scopes || scopes.includes('admin') || scopes.includes(scope)
}

const html = document.documentElement
/** The title that the environment gave the portal. */
export const portalName = html.dataset.name || ''
/** The address of the logo that the environment gave the portal. */
export const portalLogo = isPortal ? html.dataset.logo || '' : ''

/** Applies the ground and the font that the page around the portal asks for. */
export function applyLook() {
  if (!isPortal) return
  const ground = asked('ground') ?? ''
  if (/^[0-9a-f]{6}$/i.test(ground)) html.style.setProperty('--page', `#${ground}`)
  if (ground === 'transparent') html.style.setProperty('--page', ground)
  const font = asked('font') ?? ''
  if (/^[\w ,-]{1,100}$/.test(font)) html.style.setProperty('--font', font)
}

/** Applies the environment's accent color with black or white text, whichever reads better on it. */
export function applyAccent() {
  const accent = html.dataset.accent ?? ''
  if (!isPortal || !/^#[0-9a-f]{6}$/i.test(accent)) return
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(accent.slice(i, i + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  html.style.setProperty('--accent', accent)
  html.style.setProperty('--accent-ink', 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000' : '#fff')
}
