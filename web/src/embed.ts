import type { End } from './session'

/**
 * Tells the page around the portal's frame that the portal waits for a new link. Only pages of
 * the deployment's embedders get the message: the browser compares the origins. A message has no
 * wildcard such as https://*.example.com, but the policy of this page does (frame-ancestors): no
 * other page has this one in a frame.
 */
export function tellEmbedder(reason: End, tenant: string) {
  if (window.parent === window) return
  const embedders = (document.documentElement.dataset.embedders ?? '').split(/\s+/).filter(Boolean)
  const origins = embedders.some((origin) => origin.includes('*')) ? ['*'] : embedders
  for (const origin of origins) window.parent.postMessage({ type: 'surehook.portal.ended', reason, tenant }, origin)
}
