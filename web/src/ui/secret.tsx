import type { ReactNode } from 'react'
import { text } from '../text'
import { Button, CopyButton } from './controls'
import { Dialog } from './dialog'

type SecretProps = { title: string; note: string; secret: string | null; done: () => void; children?: ReactNode }

/** Shows a secret once; the children say what to do with it. */
export function SecretDialog({ title, note, secret, done, children }: SecretProps) {
  return (
    <Dialog title={title} open={secret !== null} onOpenChange={(open) => !open && done()}>
      <p className="soft">{note}</p>
      <div className="secret id">
        <code>{secret}</code>
        <CopyButton value={secret ?? ''} label={title} />
      </div>
      {children}
      <div className="buttons">
        <Button look="primary" onClick={done}>
          {text.endpoint.done}
        </Button>
      </div>
    </Dialog>
  )
}
