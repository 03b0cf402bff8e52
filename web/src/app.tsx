import { Toast } from '@base-ui/react/toast'
import { Tooltip } from '@base-ui/react/tooltip'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useReducer } from 'react'
import { Expired } from './pages/expired'
import { SignIn } from './pages/signin'
import { queries } from './poll'
import { router } from './router'
import { isPortal, session } from './session'
import { toasts, Toasts } from './ui/toast'

export function App() {
  const [, refresh] = useReducer((n: number) => n + 1, 0)
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <Toast.Provider toastManager={toasts}>
          <Tooltip.Provider delay={250}>
            {session() ? <RouterProvider router={router} /> : isPortal ? <Expired /> : <SignIn done={refresh} />}
            <Toasts />
          </Tooltip.Provider>
        </Toast.Provider>
      </QueryClientProvider>
    </CSPProvider>
  )
}
