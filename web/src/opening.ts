// Opening a portal link: ask before replacing the session of another tenant, and exchange
// the link's code for a key, once.

import { api, ApiError, ask, localTime } from './api/client'
import { tellEnded, tellOpened } from './embed'
import { firstLink, takeLink, type Link } from './link'
import { changed, type End, endSession, session, signIn, tellNoSession } from './session'

export type Opening = { link: Link } & ({ at: 'asks' } | { at: 'opens' } | { at: 'failed'; error: ApiError; end?: End })

let now: Opening | null = null

/** What the last link does; null when the link has opened, and without a link. */
export const opening = () => now

function set(next: Opening | null) {
  now = next
  changed()
}

/** Follows the link in the address, and each link that comes into the address later. */
export function followLinks() {
  if (firstLink) follow(firstLink)
  else if (!session()) tellNoSession()
  addEventListener('hashchange', () => {
    const link = takeLink()
    if (link) follow(link)
  })
}

function follow(link: Link) {
  const open = session()
  if (open?.link && link.code.startsWith(open.link.id.replace('key_', 'shl_'))) return // a frame was reloaded
  if (now?.at === 'opens' && now.link.code === link.code) return // the same, before the answer has come
  if (!link.tenant) fail(link, new ApiError(404, {}))
  else if (open && open.tenant !== link.tenant) set({ link, at: 'asks' })
  else void openLink(link)
}

/** Exchanges the code of the link for its key. The key of the previous session is revoked, and so is this key if another link has come meanwhile. */
export async function openLink(link: Link) {
  set({ link, at: 'opens' })
  try {
    const call = api('').POST('/v1/tenants/{tenant}/portal-session', { params: { path: { tenant: link.tenant } }, body: { code: link.code } })
    const { key, key_id: id, tenant, scopes, expires_at } = await ask(call, '')
    if (now?.link !== link) return void revoke(key, tenant).catch(() => {}) // otherwise it expires within a day
    const ends = localTime(expires_at, (await call).response)
    const before = session()
    now = null
    history.replaceState(null, '', '/portal')
    signIn({ key, tenant, link: { id, scopes, ends } })
    tellOpened(tenant, expires_at)
    if (before) void revoke(before.key, before.tenant).catch(() => {}) // otherwise it expires within a day
  } catch (failure) {
    if (now?.link === link) fail(link, failure as ApiError)
  }
}

function fail(link: Link, error: ApiError) {
  const end = error.code === 'conflict' ? 'used' : error.status === 404 || error.status === 400 ? 'unknown' : undefined
  if (end && !session()) tellEnded(end, link.tenant)
  set({ link, at: 'failed', error, end })
}

/** Forgets the link, and shows the session. */
export const closeLink = () => set(null)

/** Ends the key at the API, and then the session. */
export async function signOutOfPortal() {
  const open = session()
  if (!open) return
  try {
    await revoke(open.key, open.tenant)
  } catch (failure) {
    const { status } = failure as ApiError
    if (status !== 401 && status !== 404) throw failure // else there is no key
  }
  endSession('signed_out', open.key)
}

const revoke = (key: string, tenant: string) => ask(api(key).DELETE('/v1/tenants/{tenant}/portal-session', { params: { path: { tenant } } }), '')
