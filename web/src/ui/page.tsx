import { Fragment, type ReactNode, useEffect } from 'react'
import { isPortal, portalName } from '../session'
import { text } from '../text'

type PageProps = { title: string; heading?: ReactNode; lead?: ReactNode; crumbs?: ReactNode[]; actions?: ReactNode; children: ReactNode }

export function Page({ title, heading, lead, crumbs, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · ${isPortal ? portalName || text.portal : text.brand}`
  }, [title])
  return (
    <>
      <header className="title">
        <div className="lead">
          {crumbs && (
            <nav aria-label={text.crumbs}>
              <ol className="crumbs">
                {crumbs.map((c, i) => (
                  <li key={i}>{c}</li>
                ))}
              </ol>
            </nav>
          )}
          <h1>{heading ?? title}</h1>
          {lead && <p>{lead}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </header>
      {children}
    </>
  )
}

export function Card({ title, aside, children, foot, pad }: { title?: ReactNode; aside?: ReactNode; children: ReactNode; foot?: ReactNode; pad?: boolean }) {
  return (
    <section className="card">
      {(title || aside) && (
        <header>
          {title && <h2>{title}</h2>}
          {aside}
        </header>
      )}
      {pad ? <div className="body">{children}</div> : children}
      {foot && <footer>{foot}</footer>}
    </section>
  )
}

export function Facts({ of }: { of: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {of
        .filter(([, value]) => value !== undefined && value !== '' && value !== null && value !== false)
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  )
}

export type Tone = 'good' | 'warn' | 'bad' | 'wait' | 'calm'

export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>
}

export function Stat({ name, value, note, tone }: { name: string; value: ReactNode; note?: ReactNode; tone?: Tone }) {
  return (
    <div className="stat">
      <span className="name">{name}</span>
      <span className={`value ${tone ?? ''}`}>{value}</span>
      {note && <span className="note">{note}</span>}
    </div>
  )
}
