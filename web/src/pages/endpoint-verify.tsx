import { lazy, Suspense } from 'react'
import type { Endpoint } from '../api/reads'
import { Loading } from '../ui/states'

const Samples = lazy(() => import('./verify-samples'))

/** The samples, loaded when they are shown. */
export function VerifySamples({ of }: { of: Endpoint & { old_secrets_until?: string; signed_by?: string } }) {
  return (
    <Suspense fallback={<Loading />}>
      <Samples of={of} />
    </Suspense>
  )
}
