import { text } from '../text'
import { Button, CopyButton } from './controls'
import { Dialog } from './dialog'

/** Shows a secret once. */
export function SecretDialog({ title, note, secret, done }: { title: string; note: string; secret: string | null; done: () => void }) {
  return (
    <Dialog title={title} open={secret !== null} onOpenChange={(open) => !open && done()}>
      <p className="soft">{note}</p>
      <div className="secret id">
        <code>{secret}</code>
        <CopyButton value={secret ?? ''} label={title} />
      </div>
      <div className="buttons">
        <Button look="primary" onClick={done}>
          {text.endpoint.done}
        </Button>
      </div>
    </Dialog>
  )
}
