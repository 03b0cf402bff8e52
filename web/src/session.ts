// Who is signed in, and how the page looks. The API is at the page's own address: the
// page's policy permits no other. The key is in this tab only:
// in sessionStorage, which a browser empties with the tab.

export type Mode = 'console' | 'portal'
export type Session = { key: string; tenant: string }

export const mode: Mode = location.pathname === '/portal' || location.pathname.startsWith('/portal/') ? 'portal' : 'console'
export const isPortal = mode === 'portal'

const slot = `surehook-${mode}`
let current: Session | null = null

// A browser can refuse storage to a page in a frame. The key then lives until a reload.
function store(value: string | null) {
  try {
    if (value === null) sessionStorage.removeItem(slot)
    else sessionStorage.setItem(slot, value)
  } catch {
    // as above
  }
}

function stored(): Session | null {
  try {
    const text = sessionStorage.getItem(slot)
    return text ? (JSON.parse(text) as Session) : null
  } catch {
    return null
  }
}

/** Reads the key of a portal link from the fragment, and removes it from the address bar and the history. */
export function openSession() {
  current = stored()
  if (!isPortal || location.hash.length < 2) return
  const given = new URLSearchParams(location.hash.slice(1))
  history.replaceState(history.state, '', location.pathname + location.search)
  const key = given.get('key')
  const tenant = given.get('tenant')
  if (key && tenant) signIn({ key, tenant })
}

export function session(): Session | null {
  return current
}

export function signIn(next: Session) {
  current = next
  store(JSON.stringify(next))
}

export function signOut() {
  current = null
  store(null)
}

const html = document.documentElement
/** The title that the environment gave the portal. */
export const portalName = html.dataset.name || ''

/** Applies the environment's accent color with black or white text, whichever reads better on it. */
export function applyAccent() {
  const accent = html.dataset.accent ?? ''
  if (!isPortal || !/^#[0-9a-f]{6}$/i.test(accent)) return
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(accent.slice(i, i + 2), 16) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  html.style.setProperty('--accent', accent)
  html.style.setProperty('--accent-ink', 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000' : '#fff')
}
