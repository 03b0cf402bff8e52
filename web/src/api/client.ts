import createClient from 'openapi-fetch'
import { endSession, session } from '../session'
import { said } from '../text'
import type { components, paths } from '../../../clients/ts/src/openapi'

export type Schemas = components['schemas']
export type Problem = Schemas['Problem']

/** A refusal or failure of the API, or of the way to it (status 0). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly fields: Record<string, string>

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.detail ?? (problem as { message?: string }).message ?? '')
    // API Gateway itself refuses a wrong or expired key, with 403 and without a problem
    // document. Surehook's own 403, a key without the permission, is a problem, and a
    // firewall's is neither.
    this.status = status === 403 && this.message === 'Forbidden' && !problem.code ? 401 : status
    this.code = problem.code ?? (status === 0 ? 'offline' : status === 429 ? 'throttled' : 'internal')
    this.fields = {}
    for (const e of problem.errors ?? []) this.fields[e.field] ??= e.message
  }
}

/** A refusal of the API, in the language of the page. */
export function refused(status: number, problem: Partial<Problem>) {
  const errors = problem.errors?.map((e) => ({ ...e, message: said(e.message) }))
  return new ApiError(status, { ...problem, errors, ...(problem.detail && { detail: said(problem.detail) }) })
}

type Answer<T> = { data?: T; error?: unknown; response: Response }

/** Returns the data of an answer; throws ApiError otherwise. A refusal of the key ends its session. */
export async function ask<T>(answer: Promise<Answer<T>>, key = session()?.key): Promise<T> {
  let got: Answer<T>
  try {
    got = await answer
  } catch {
    throw new ApiError(0, {})
  }
  if (!got.response.ok) {
    const refusal = refused(got.response.status, (got.error ?? {}) as Partial<Problem>)
    if (refusal.status === 401) endSession('refused', key)
    throw refusal
  }
  return got.data as T
}

/** The client of the API with the session's key, or another; an empty key is none. */
export function api(key = session()?.key ?? '') {
  return createClient<paths>({ baseUrl: location.origin, headers: key ? { authorization: `Bearer ${key}` } : {}, credentials: 'omit' })
}

/** A time of the API by the clock of this machine, which may differ. The header has whole seconds. */
export function localTime(at: string, response: Response) {
  const sent = Date.parse(response.headers.get('date') ?? '') + 1_000 || Date.now()
  return Date.now() + Date.parse(at) - sent
}

/** Sends a body as a text, for fields that JSON.stringify would change, such as large numbers. */
export function askWith<T>(method: string, path: string, body: string, headers: Record<string, string> = {}): Promise<T> {
  return ask(
    fetch(path, {
      method,
      headers: { authorization: `Bearer ${session()?.key ?? ''}`, 'content-type': 'application/json', ...headers },
      body,
      credentials: 'omit',
    }).then(async (response) => {
      const answer: unknown = await response.json().catch(() => ({}))
      return response.ok ? { data: answer as T, response } : { error: answer, response }
    }),
  )
}
