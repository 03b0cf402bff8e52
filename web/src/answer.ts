// The issuer's answer to a sign-in, which is in the query of the address. main.tsx imports
// this module early: the code must leave the address bar and the history before anything else runs.

function takeAnswer(): URLSearchParams | null {
  if (location.pathname !== '/console') return null
  const given = new URLSearchParams(location.search)
  if (!given.has('state') || !(given.has('code') || given.has('error'))) return null
  history.replaceState(history.state, '', location.pathname)
  return given
}

export const firstAnswer = takeAnswer()
