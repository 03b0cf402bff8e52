import { asked, isPortal } from '../session'

export type Theme = 'system' | 'light' | 'dark'

const slot = 'surehook-theme'

/** The theme of the page around the portal, or else what was chosen here. */
export function theme(): Theme {
  const asks = isPortal ? asked('theme') : null
  if (asks === 'light' || asks === 'dark') return asks
  if (asks === 'visitor') return 'system'
  try {
    const kept = localStorage.getItem(slot)
    return kept === 'light' || kept === 'dark' ? kept : 'system'
  } catch {
    return 'system'
  }
}

export function applyTheme(next?: Theme) {
  if (next) {
    try {
      localStorage.setItem(slot, next)
    } catch {
      // without storage the choice lasts until a reload
    }
  }
  const chosen = next ?? theme()
  if (chosen === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
}
