import { keepPreviousData, QueryClient, type Query } from '@tanstack/react-query'
import { ApiError } from './api/client'

const soonest = 5_000
const latest = 60_000

/**
 * The time to the next reading of a page that shows changing data. The time doubles while
 * the data stays the same or the API fails, and starts again with each change.
 */
export function backOff(query: Pick<Query, 'state' | 'queryHash'>): number {
  const state = query.state
  const changed = lastChange.get(query.queryHash)
  if (!changed || changed.data !== state.data) {
    const text = JSON.stringify(state.data, (name, value: unknown) => (clocks.has(name) ? undefined : value)) ?? ''
    const same = changed?.text === text
    lastChange.set(query.queryHash, { data: state.data, text, at: same ? changed.at : state.dataUpdatedAt || Date.now() })
    if (!same) return soonest
  }
  // Computed from the times of reads, not from the present: a result that changes between two reads would restart the wait.
  const read = Math.max(state.dataUpdatedAt, state.errorUpdatedAt)
  return Math.min(latest, Math.max(soonest, (read - (lastChange.get(query.queryHash)?.at ?? 0)) / 2))
}

// Fields that say when the API answered: they differ in every answer, but are not changes.
const clocks = new Set(['at', 'age', 'until'])

// By query. TanStack Query keeps the identity of equal data (structural sharing).
const lastChange = new Map<string, { data: unknown; text: string; at: number }>()

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      refetchInterval: backOff,
      refetchIntervalInBackground: false,
      placeholderData: keepPreviousData,
      staleTime: 2_000,
      // Asking again does not change a refusal.
      retry: (failures, error) => failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.status === 429),
    },
  },
})
