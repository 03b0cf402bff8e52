import { pretty } from '../json'

/** A JSON text with an indent and colors, with every token as it is. */
export function Json({ of, label }: { of: string; label?: string }) {
  return (
    <pre className="code" tabIndex={0} aria-label={label}>
      {pretty(of).map((token, i) => (token.kind === 'plain' ? token.text : <span key={i} className={token.kind}>{token.text}</span>))}
    </pre>
  )
}
