import { portalLogo } from '../session'

/** The logo of the portal's product, or the mark of Surehook: a hook that ends in a check. */
export function Mark() {
  if (portalLogo) return <img className="mark" src={portalLogo} alt="" referrerPolicy="no-referrer" />
  return (
    <svg className="mark" viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="2.6" strokeLinecap="round" strokeLinejoin="round" aria-hidden>
      <path d="M17 3v10a6 6 0 0 1-12 0v-1l3 3" />
      <path d="M13.5 6.5 17 3l3.5 3.5" />
    </svg>
  )
}
