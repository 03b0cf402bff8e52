import { Toast } from '@base-ui/react/toast'
import { Tooltip } from '@base-ui/react/tooltip'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Portal } from './pages/portal'
import { Ended, SignIn } from './pages/signin'
import { queries } from './poll'
import { router } from './router'
import { isPortal, session, useChanges } from './session'
import { toasts, Toasts } from './ui/toast'

export function App() {
  useChanges()
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <Toast.Provider toastManager={toasts}>
          <Tooltip.Provider delay={250}>
            {isPortal ? (
              <Portal>
                <Pages key={session()?.key} />
              </Portal>
            ) : session() ? (
              <Pages key={session()?.person?.id ?? session()?.key} />
            ) : (
              <SignIn />
            )}
            <Ended />
            <Toasts />
          </Tooltip.Provider>
        </Toast.Provider>
      </QueryClientProvider>
    </CSPProvider>
  )
}

/** The pages of one session. Without the pages nothing asks the API, and what they read is forgotten. */
function Pages() {
  useEffect(() => () => queries.clear(), [])
  return <RouterProvider router={router} />
}
