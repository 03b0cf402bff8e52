export type Theme = 'system' | 'light' | 'dark'

const slot = 'surehook-theme'

export function theme(): Theme {
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
