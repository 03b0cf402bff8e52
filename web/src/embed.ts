import type { End } from './session'

/**
 * Sends a message to the page around the portal's frame. Only pages of the deployment's
 * embedders get it: the browser compares the origins. A message has no wildcard such as
 * https://*.example.com, but the policy of this page does (frame-ancestors): no other page
 * has this one in a frame.
 */
function tell(event: 'ended' | 'opened' | 'height', message: object) {
  if (window.parent === window) return
  const embedders = (document.documentElement.dataset.embedders ?? '').split(/\s+/).filter(Boolean)
  const origins = embedders.some((origin) => origin.includes('*')) ? ['*'] : embedders
  for (const origin of origins) window.parent.postMessage({ type: `surehook.portal.${event}`, ...message }, origin)
}

/** Says that the portal waits for a new link. */
export const tellEnded = (reason: End, tenant: string) => tell('ended', { reason, tenant })

const embedded = () => document.documentElement.dataset.embed !== undefined

/** Says, with ?embed=1, that a link has opened, or renewed, the session. */
export function tellOpened(tenant: string, expires_at: string) {
  if (embedded()) tell('opened', { tenant, expires_at })
}

/** Says, with ?embed=1, how high the element is, in CSS pixels, now and after each change. */
export function followHeight(element: HTMLElement) {
  if (!embedded()) return
  let last = 0
  new ResizeObserver(() => {
    const height = Math.ceil(element.getBoundingClientRect().height)
    if (height === last) return
    last = height
    tell('height', { height })
  }).observe(element)
}
