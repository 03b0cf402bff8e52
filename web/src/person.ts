// The sign-in of a person at the deployment's issuer: an authorization code with PKCE, and a
// refresh token if the issuer gives one. The ID token is the key of the API, which checks it;
// the library checks state, nonce, issuer and audience.

import type * as OAuth from 'oauth4webapi'
import { firstAnswer } from './answer'
import { api, ApiError, ask, localTime } from './api/client'
import { changed, session, signIn, subscribe } from './session'
import { text } from './text'

const { issuer, client: client_id = '', scopes = '' } = document.documentElement.dataset
/** Whether the deployment has a sign-in for people. */
export const hasIssuer = !!issuer
/** The host that people know as their provider. */
export const issuerHost = issuer ? new URL(issuer).host : ''

const client: OAuth.Client = { client_id }
const redirect_uri = `${location.origin}/console`
const slot = 'surehook-sign-in' // of the sign-in under way, in this tab
const channel = new BroadcastChannel('surehook-console')
const early = 60_000 // before the end of a token, in milliseconds

type Started = { state: string; nonce: string; verifier: string; path: string }

let now: { at: 'going' } | { at: 'failed'; why: string } | null = null
/** What the sign-in does; null before it, and after its end. */
export const signingIn = () => now

function set(next: typeof now) {
  now = next
  changed()
}

let known: ReturnType<typeof discover> | undefined
function provider() {
  known ??= discover(new URL(issuer!))
  known.catch(() => (known = undefined)) // asks again next time
  return known
}

/** The issuer, and the library, which only those load who sign in at one. */
async function discover(url: URL) {
  const oauth = await import('oauth4webapi')
  const insecure = { [oauth.allowInsecureRequests]: url.protocol === 'http:' } // on loopback alone
  return { oauth, insecure, server: await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, insecure)) }
}

/** Leaves for the issuer, which leads back to the page. */
export async function startSignIn() {
  set({ at: 'going' })
  try {
    const { oauth, server } = await provider()
    const path = location.pathname === '/console' ? '/console' : location.pathname + location.search
    const started: Started = { state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce(), verifier: oauth.generateRandomCodeVerifier(), path }
    sessionStorage.setItem(slot, JSON.stringify(started))
    const url = new URL(server.authorization_endpoint!)
    const query = { client_id, redirect_uri, response_type: 'code', scope: scopes, state: started.state, nonce: started.nonce }
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    url.searchParams.set('code_challenge', await oauth.calculatePKCECodeChallenge(started.verifier))
    url.searchParams.set('code_challenge_method', 'S256')
    location.assign(url)
  } catch {
    set({ at: 'failed', why: text.signIn.unreachable(issuerHost) })
  }
}

/** Follows the issuer's answer in the address, renews tokens, and takes the token of a sign-in in another tab. */
export function followPerson() {
  if (!issuer) return
  if (firstAnswer) void finish(firstAnswer)
  else if (!session() && new URLSearchParams(location.search).has('again')) void startSignIn()
  subscribe(watch)
  watch()
  channel.onmessage = ({ data }: MessageEvent<ReturnType<typeof session>>) => {
    const mine = session()?.person
    if (mine?.ended && data?.person?.id === mine.id) signIn(data)
  }
}

async function finish(answer: URLSearchParams) {
  set({ at: 'going' })
  const started = JSON.parse(sessionStorage.getItem(slot) ?? 'null') as Started | null
  sessionStorage.removeItem(slot)
  if (!started || answer.get('state') !== started.state) return set({ at: 'failed', why: text.signIn.late })
  if (answer.has('error')) return set({ at: 'failed', why: text.signIn.denied(answer.get('error_description') ?? answer.get('error')!) })
  try {
    const { oauth, server, insecure } = await provider()
    const checked = oauth.validateAuthResponse(server, client, answer, started.state)
    const response = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), checked, redirect_uri, started.verifier, insecure)
    await enter(await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: started.nonce, requireIdToken: true }))
    now = null
    history.replaceState(null, '', started.path)
    changed()
    const open = session()!
    // Other tabs get no refresh token, because an issuer may accept each one only once.
    channel.postMessage({ ...open, person: { ...open.person, refresh: undefined } })
  } catch (failure) {
    set({ at: 'failed', why: whyOf(failure) })
  }
}

function whyOf(failure: unknown) {
  if (!(failure instanceof ApiError)) return text.signIn.unreachable(issuerHost)
  return failure.status === 401 ? text.signIn.refused : failure.message || text.failures.internal
}

/** Begins or continues the session of the person whom the API recognises by the token. */
async function enter(tokens: OAuth.TokenEndpointResponse, before?: { id: string; refresh?: string }) {
  const key = tokens.id_token ?? ''
  const call = api(key).GET('/v1/caller')
  const { id, name, scopes, expires_at, environment } = await ask(call, key)
  if (before && before.id !== id) throw new ApiError(401, {})
  const ends = localTime(expires_at!, (await call).response)
  if (before && session()?.person?.id !== before.id) return void (tokens.refresh_token && revoke(tokens.refresh_token)) // signed out meanwhile
  signIn({ key, tenant: '', environment, person: { id, name, scopes, ends, refresh: tokens.refresh_token ?? before?.refresh } })
}

// A provider may let every new token end with its own session, which may be soon.
const leastPause = 30_000

let timer: ReturnType<typeof setTimeout> | undefined
function watch() {
  clearTimeout(timer)
  const open = session()
  if (open?.person?.refresh) timer = setTimeout(() => void renew(), Math.min(Math.max(leastPause, open.person.ends - early - Date.now()), 2 ** 31 - 1))
}

let renewing = false
async function renew() {
  const open = session()
  if (renewing || !open?.person?.refresh) return
  renewing = true
  try {
    const { oauth, server, insecure } = await provider()
    const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), open.person.refresh, insecure)
    const tokens = await oauth.processRefreshTokenResponse(server, client, response)
    await enter(tokens, open.person)
  } catch {
    // The page goes on with the token that it has, until its end.
    const left = session()
    if (left?.person && left.key === open.key) signIn({ ...left, person: { ...left.person, refresh: undefined } })
  } finally {
    renewing = false
  }
}

/** Ends what renews the token, at an issuer that can. The token itself lives until its end. */
export async function revoke(refresh: string) {
  try {
    const { oauth, server, insecure } = await provider()
    if (server.revocation_endpoint) {
      await oauth.revocationRequest(server, client, oauth.None(), refresh, { ...insecure, signal: AbortSignal.timeout(3_000) })
    }
  } catch {
    // The session has ended in any case.
  }
}
