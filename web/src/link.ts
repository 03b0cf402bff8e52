// The code of a portal link, which is in the fragment of the address. main.tsx imports this
// module first: the code must leave the address bar and the history before anything else runs.

export type Link = { tenant: string; code: string }

/** Takes the link from the address; null if there is none. A text that is not a tenant's id becomes empty, because the page would show it. */
export function takeLink(): Link | null {
  if (!/^\/portal(\/|$)/.test(location.pathname)) return null
  const given = new URLSearchParams(location.hash.slice(1))
  const code = given.get('code')
  if (code === null) return null
  history.replaceState(history.state, '', location.pathname + location.search)
  const tenant = given.get('tenant') ?? ''
  return { tenant: /^[\w.|:@+-]{1,128}$/.test(tenant) ? tenant : '', code }
}

export const firstLink = takeLink()
