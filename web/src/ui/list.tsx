import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Card } from './page'
import { Pager } from './pager'
import { Data, Empty } from './states'

type Page<T> = { data: T[]; next_cursor?: string | null }
/** The name of a column, at the end of its cells, or left out where there is little room. */
type Column = string | { name: ReactNode; look: 'end' | 'wide' | 'end wide' }

type ListProps<T> = {
  of: UseQueryResult<Page<T>>
  cursor?: string
  empty: { title: string; text?: string; action?: ReactNode }
  children: (data: T[]) => ReactNode
}

/** A page of a list in a card, with the links to the other pages. */
export function List<T>({ of, cursor, empty, children }: ListProps<T>) {
  const next = of.data?.next_cursor ?? null
  return (
    <Card foot={(cursor || next) && <Pager cursor={cursor} next={next} />}>
      <Data of={of}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={empty.title}>
              {empty.text && <p>{empty.text}</p>}
              {empty.action}
            </Empty>
          ) : (
            children(data)
          )
        }
      </Data>
    </Card>
  )
}

/**
 * A table that is a list of cards on a phone. The cells of the rows have the names of the columns as data-label. A compact
 * table has cards of two or three lines without labels there: the first cell, that of the class standing, then the others.
 */
export function Table({ columns, compact, children }: { columns: Column[]; compact?: boolean; children: ReactNode }) {
  return (
    <table className={compact ? 'cards compact' : 'cards'}>
      <thead>
        <tr>
          {columns.map((c, i) => (
            <th key={i} className={typeof c === 'string' ? undefined : c.look}>
              {typeof c === 'string' ? c : c.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
