import { count } from '../format'
import { text } from '../text'
import { Figure } from './chart'
import { Card } from './page'
import { Time } from './time'

const t = text.waiting

/** Deliveries that wait. reasons tells why the parked ones do. */
export type Waits = { queued: number; retrying: number; reasons: Record<string, number> }

/** How far the counts are to be trusted. */
type Counted = { complete: boolean; as_of?: string }

type Wait = { name: string; look: string; n: number; shade?: string; to?: string }

/** What waits, by reason, as one bar. list leads to the deliveries of a state. */
export function WaitingCard({ of, list, counted }: { of: Waits; list?: (state: 'retrying' | 'parked') => string; counted: Counted }) {
  const waits = waitsOf(of, list).filter((w) => w.n > 0)
  return (
    <Card title={t.title} pad>
      <div className="waiting">
        <div className="bar" aria-hidden>
          {waits.map((w) => (
            <span key={w.name} className={w.look} style={{ flexGrow: w.n, opacity: w.shade }} />
          ))}
        </div>
        {waits.length === 0 ? (
          <p className="soft">{t.none}</p>
        ) : (
          <ul className="legend">
            {waits.map((w) => (
              <li key={w.name} className={w.look}>
                <Figure name={w.name} value={count(w.n)} to={w.to} shade={w.shade} />
              </li>
            ))}
          </ul>
        )}
        {!counted.complete && <p className="soft small">{t.lower}</p>}
        {counted.as_of && (
          <p className="soft small">
            {t.asOf} <Time at={counted.as_of} />
          </p>
        )}
      </div>
    </Card>
  )
}

function waitsOf({ queued, retrying, reasons }: Waits, list?: (state: 'retrying' | 'parked') => string): Wait[] {
  const known = Object.entries(reasons).sort(([, a], [, b]) => b - a)
  const shades = ['1', '0.72', '0.5', '0.36']
  const shelved = known.map(([reason, n]) => ({ name: t.reasons[reason] ?? reason, n }))
  return [
    { name: t.queued, look: 'queued', n: queued },
    { name: t.retrying, look: 'failed', n: retrying, to: list?.('retrying') },
    ...shelved.map((w, i) => ({ ...w, look: 'waits', shade: shades[i] ?? shades.at(-1), to: list?.('parked') })),
  ]
}
