import { TEXTS } from '../texts/en.ts'
import { element, select } from './element.ts'

const KEY = 'agro.theme'
const THEMES = ['auto', 'light', 'dark'] as const

/** What the visitor has chosen; `auto` is what the system says. */
function chosen() {
  try {
    return localStorage.getItem(KEY) ?? 'auto'
  } catch {
    // A browser may refuse to keep anything.
    return 'auto'
  }
}

function apply(theme: string) {
  if (theme === 'auto') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  document.dispatchEvent(new Event('themechange'))
}

/** Whether the page is dark now. */
export function isDark() {
  const { theme } = document.documentElement.dataset
  return theme ? theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
}

/** @param listen called whenever light becomes dark, or the other way round */
export function onThemeChange(listen: () => void) {
  document.addEventListener('themechange', listen)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', listen)
}

/** A chooser of light and dark. */
export function themeChooser() {
  apply(chosen())
  const options = THEMES.map((value) => ({ value, text: TEXTS.theme[value] }))
  const control = select(options, chosen(), (theme) => {
    apply(theme)
    try {
      localStorage.setItem(KEY, theme)
    } catch {
      // It holds until the page is closed.
    }
  })
  control.setAttribute('aria-label', TEXTS.theme.label)
  return element('div', { className: 'theme' }, control)
}
