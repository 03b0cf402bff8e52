import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask, type Schemas } from '../api/client'
import { text } from '../text'
import { Button, CopyButton } from '../ui/controls'
import { Dialog } from '../ui/dialog'
import { Data } from '../ui/states'

const t = text.event

type Attempt = Schemas['Attempt']

/** What Surehook knows of an attempt, as a text to copy: what was sent when, and what came back. */
export function Proof({ tenant, event, of: a }: { tenant: string; event: string; of: Attempt }) {
  const [open, setOpen] = useState(false)
  const read = useQuery({
    enabled: open,
    queryKey: [tenant, 'proof', a.delivery_id, a.number],
    queryFn: () => proofOf(tenant, event, a),
    refetchInterval: false,
    staleTime: Infinity,
  })
  return (
    <>
      <Button tiny onClick={() => setOpen(true)}>
        {t.proof}
      </Button>
      <Dialog wide title={t.proofTitle(a.number)} open={open} onOpenChange={setOpen}>
        <Data of={read}>
          {(proof) => (
            <>
              <p className="soft">{proof.includes('"body_sha256"') ? t.proofText : a.batch ? t.bodyOfBatch : t.bodyGone}</p>
              <div className="sample id">
                <pre className="code wrap" tabIndex={0} aria-label={t.proof}>
                  {proof}
                </pre>
                <CopyButton value={proof} label={t.proof} />
              </div>
            </>
          )}
        </Data>
        <div className="buttons">
          <Button onClick={() => setOpen(false)}>{text.close}</Button>
        </div>
      </Dialog>
    </>
  )
}

async function proofOf(tenant: string, event: string, a: Attempt): Promise<string> {
  const body = a.batch ? undefined : await bodyOf(tenant, event, a)
  const proof = {
    event_id: event,
    delivery_id: a.delivery_id,
    endpoint_id: a.endpoint_id,
    attempt: a.number,
    started_at: a.started_at,
    duration: a.duration,
    outcome: a.class,
    status: a.status,
    error: a.error,
    url: a.url,
    body_bytes: body?.length,
    body_sha256: body && hex(await crypto.subtle.digest('SHA-256', body)),
    request_headers: a.request_headers,
    response_headers: a.response_headers,
    response_body: a.body,
  }
  return JSON.stringify(proof, null, 2)
}

/** The body of the request, made again from the event; undefined if the endpoint has another shape now, or the payload was erased. */
async function bodyOf(tenant: string, event: string, a: Attempt) {
  const preview = await ask(api().POST('/v1/tenants/{tenant}/endpoints/{endpoint}/preview', { params: { path: { tenant, endpoint: a.endpoint_id } }, body: { event_id: event } })).catch(() => undefined)
  return preview && preview.shape === (a.shape ?? 'raw') ? new TextEncoder().encode(preview.request?.body ?? '') : undefined
}

const hex = (bytes: ArrayBuffer) => [...new Uint8Array(bytes)].map((b) => b.toString(16).padStart(2, '0')).join('')
