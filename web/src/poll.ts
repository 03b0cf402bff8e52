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
    lastChange.set(query.queryHash, { data: state.data, at: Date.now() })
    return soonest
  }
  if (state.fetchFailureCount > 0) return latest
  return Math.min(latest, Math.max(soonest, (Date.now() - changed.at) / 2))
}

// Equal data keeps its identity (structural sharing of TanStack Query).
const lastChange = new Map<string, { data: unknown; at: number }>()

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
