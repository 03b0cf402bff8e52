import { AlertDialog } from '@base-ui/react/alert-dialog'
import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { type ReactElement, type ReactNode, useState } from 'react'
import { ApiError } from '../api/client'
import { failureOf, text } from '../text'
import { Button } from './controls'

type DialogProps = {
  title: string
  wide?: boolean
  children: ReactNode
  open: boolean
  onOpenChange: (open: boolean) => void
  /** Whether the focus returns to where it was when the dialog closes. */
  finalFocus?: () => boolean
}

/** A dialog over the page. Its buttons are among the children. */
export function Dialog({ title, wide, children, open, onOpenChange, finalFocus }: DialogProps) {
  return (
    <BaseDialog.Root open={open} onOpenChange={onOpenChange}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="backdrop" />
        <BaseDialog.Popup className={wide ? 'dialog wide' : 'dialog'} finalFocus={finalFocus}>
          <BaseDialog.Title render={<h2 />}>{title}</BaseDialog.Title>
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  )
}

type ConfirmProps = {
  trigger: ReactElement<Record<string, unknown>>
  title: string
  children: ReactNode
  action: string
  danger?: boolean
  disabled?: boolean
  run: () => Promise<unknown>
}

/** A button that asks before it runs an action, and shows why the action failed. */
export function Confirm({ trigger, title, children, action, danger, disabled, run }: ConfirmProps) {
  const [open, setOpen] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<ApiError | null>(null)
  const act = async () => {
    setBusy(true)
    setFailure(null)
    try {
      await run()
      setOpen(false)
    } catch (e) {
      setFailure(e as ApiError)
    } finally {
      setBusy(false)
    }
  }
  return (
    <AlertDialog.Root
      open={open}
      onOpenChange={(next) => {
        setOpen(next)
        setFailure(null)
      }}
    >
      <AlertDialog.Trigger render={trigger} />
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog">
          <AlertDialog.Title render={<h2 />}>{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />} className="soft">
            {children}
          </AlertDialog.Description>
          {failure && (
            <p className="notice bad" role="alert">
              {failureOf(failure)}
            </p>
          )}
          <div className="buttons">
            <AlertDialog.Close className="button">{text.keep}</AlertDialog.Close>
            <Button look={danger ? 'primary danger' : 'primary'} disabled={busy || disabled} onClick={() => void act()}>
              {action}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
