import { CloudOff, Inbox, KeyRound, SearchX } from 'lucide-react'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client'
import { failureOf, text } from '../text'
import { Button } from './controls'

export function Loading() {
  return (
    <div className="skeleton" role="status" aria-label={text.loading}>
      <span />
      <span />
      <span />
      <span />
    </div>
  )
}

export function Empty({ title, children, icon }: { title: string; children?: ReactNode; icon?: ReactNode }) {
  return (
    <div className="state">
      {icon ?? <Inbox size={28} strokeWidth={1.5} aria-hidden />}
      <h2>{title}</h2>
      {children}
    </div>
  )
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const failure = error as ApiError
  const Icon = failure.status === 404 ? SearchX : failure.status === 401 || failure.status === 403 ? KeyRound : CloudOff
  return (
    <div className="state" role="alert">
      <Icon size={28} strokeWidth={1.5} aria-hidden />
      <h2>{text.failures.title(failure)}</h2>
      <p>{failureOf(failure)}</p>
      {retry && failure.status !== 404 && <Button onClick={retry}>{text.again}</Button>}
    </div>
  )
}

/** Shows data, or what there is instead. After a failed refresh the last data stays, with a note. */
export function Data<T>({ of, children }: { of: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  if (of.data === undefined) return of.error ? <Failure error={of.error} retry={() => void of.refetch()} /> : <Loading />
  return (
    <>
      {of.error && (
        <p className="notice warn" role="alert">
          {text.stale}
          <Button tiny onClick={() => void of.refetch()}>
            {text.again}
          </Button>
        </p>
      )}
      {children(of.data)}
    </>
  )
}
