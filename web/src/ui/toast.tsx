import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import type { ApiError } from '../api/client'
import { failureOf, text } from '../text'

export const toasts = Toast.createToastManager()

/** Tells what was done, with an action that undoes it where there is one. */
export function tell(title: string, undo?: () => void) {
  toasts.add({ title, timeout: undo ? 10_000 : 5_000, actionProps: undo ? { children: text.undo, onClick: undo } : undefined })
}

export function tellFailure(error: unknown) {
  toasts.add({ title: failureOf(error as ApiError), type: 'error', timeout: 10_000 })
}

export function Toasts() {
  return (
    <Toast.Portal>
      <Toast.Viewport className="toasts">
        <List />
      </Toast.Viewport>
    </Toast.Portal>
  )
}

function List() {
  const { toasts: shown } = Toast.useToastManager()
  return shown.map((t) => (
    <Toast.Root key={t.id} toast={t} className="toast" swipeDirection="right">
      <Toast.Title render={<span />} />
      <span className="row">
        {t.actionProps && <Toast.Action className="button tiny" />}
        <Toast.Close className="button quiet tiny" aria-label={text.close}>
          <X size={13} />
        </Toast.Close>
      </span>
    </Toast.Root>
  ))
}
