import { keepPreviousData, QueryClient, type Query } from '@tanstack/react-query'
import { ApiError } from './api/client'

const soonest = 5_000
const latest = 60_000

/**
 * The time to the next reading of a page that shows changing data. The time doubles while
 * the data stays the same or the API fails, and starts again with each change.
 */
export function backOff(query: Query): number {
  const state = query.state
  const changed = lastChange.get(query.queryHash)
  if (!changed || changed.data !== state.data) {
    const text = JSON.stringify(state.data, (name, value: unknown) => (clocks.has(name) ? undefined : value)) ?? ''
    const same = changed?.text === text
    lastChange.set(query.queryHash, { data: state.data, text, at: same ? changed.at : state.dataUpdatedAt || Date.now() })
    if (!same) return soonest
  }
  // Of the times of reads and not of the present: a new time between two reads would restart the wait.
  const read = Math.max(state.dataUpdatedAt, state.errorUpdatedAt)
  return Math.min(latest, Math.max(soonest, (read - (lastChange.get(query.queryHash)?.at ?? 0)) / 2))
}

// Fields that say when the API answered: they differ in every answer, and change nothing.
const clocks = new Set(['at', 'age', 'until'])

// Equal data keeps its identity (structural sharing of TanStack Query).
const lastChange = new Map<string, { data: unknown; text: string; at: number }>()

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      refetchInterval: backOff,
      refetchIntervalInBackground: false,
      placeholderData: keepPreviousData,
      staleTime: 2_000,
      // A refusal is an answer: asking again changes nothing.
      retry: (failures, error) => failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.status === 429),
    },
  },
})
