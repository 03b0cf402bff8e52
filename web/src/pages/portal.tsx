import type { ReactNode } from 'react'
import { closeLink, type Opening, opening, openLink } from '../opening'
import { ended, portalName, session, useChanges } from '../session'
import { failureOf, text } from '../text'
import { Button } from '../ui/controls'
import { Mark } from '../ui/mark'
import { Loading } from '../ui/states'

const t = text.link

/** The portal with a session, or what its link does, or why there is none. */
export function Portal({ children }: { children: ReactNode }) {
  useChanges()
  const link = opening()
  if (link) return <LinkPage of={link} />
  if (session()) return children
  const end = t.ends[ended() ?? 'none']
  return (
    <Notice title={end.title}>
      <p className="soft" role="alert">
        {end.text}
      </p>
    </Notice>
  )
}

function LinkPage({ of: link }: { of: Opening }) {
  const { tenant } = link.link
  const open = session()
  if (link.at === 'opens') {
    return (
      <Notice title={t.opens(tenant)}>
        <Loading />
      </Notice>
    )
  }
  const back = open && <Button onClick={closeLink}>{t.stay(open.tenant)}</Button>
  if (link.at === 'asks') {
    return (
      <Notice title={t.asks(tenant)}>
        {open && <p className="soft">{t.replaces(open.tenant)}</p>}
        <div className="buttons column">
          <Button look="primary" onClick={() => void openLink(link.link)}>
            {t.open(tenant)}
          </Button>
          {back}
        </div>
      </Notice>
    )
  }
  const end = link.end && t.ends[link.end]
  return (
    <Notice title={end?.title ?? t.failed(tenant)}>
      <p className="soft" role="alert">
        {end?.text ?? failureOf(link.error)}
      </p>
      {(back || !end) && (
        <div className="buttons column">
          {!end && (
            <Button look="primary" onClick={() => void openLink(link.link)}>
              {text.again}
            </Button>
          )}
          {back}
        </div>
      )}
    </Notice>
  )
}

function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="signin">
      <div className="card">
        <span className="brand">
          <Mark /> {portalName || text.portal}
        </span>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  )
}
