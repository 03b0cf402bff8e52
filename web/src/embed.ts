import type { End } from './session'

/**
 * Tells the page around the portal's frame that the portal waits for a new link. Only pages of
 * the deployment's embedders get the message: the browser compares the origins.
 */
export function tellEmbedder(reason: End, tenant: string) {
  if (window.parent === window) return
  for (const origin of (document.documentElement.dataset.embedders ?? '').split(/\s+/).filter(Boolean)) {
    window.parent.postMessage({ type: 'surehook.portal.ended', reason, tenant }, origin)
  }
}
