import { useSyncExternalStore } from 'react'
import { ago, exact, since } from '../format'

// One clock for all relative times of a page.
let now = Date.now()
const listeners = new Set<() => void>()
setInterval(() => {
  now = Date.now()
  for (const tell of listeners) tell()
}, 5_000)

function subscribe(tell: () => void) {
  listeners.add(tell)
  return () => listeners.delete(tell)
}

export const useNow = () => useSyncExternalStore(subscribe, () => now)

/** A relative time, with the exact time on hover. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exact(at)}>
      {ago(at, useNow())}
    </time>
  )
}

/** When something began, to the minute, with the exact time on hover. */
export function Since({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exact(at)}>
      {since(at, useNow())}
    </time>
  )
}
