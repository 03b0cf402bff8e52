import { Link } from '@tanstack/react-router'
import { text } from '../text'

/** Links to the next page of a list and back to the first. A page can be empty before the end of a list. */
export function Pager({ cursor, next }: { cursor?: string; next: string | null }) {
  if (!cursor && !next) return null
  return (
    <nav className="pager" aria-label={text.more}>
      {cursor ? (
        <Link className="button tiny" to="." search={(s: Record<string, unknown>) => ({ ...s, cursor: undefined })}>
          {text.first}
        </Link>
      ) : (
        <span />
      )}
      {next && (
        <Link className="button tiny" to="." search={(s: Record<string, unknown>) => ({ ...s, cursor: next })}>
          {text.more}
        </Link>
      )}
    </nav>
  )
}
