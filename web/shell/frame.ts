import { TEXTS } from '../texts/en.ts'
import { onBusy, onDemo } from './api.ts'
import { button, element, select } from './element.ts'

/** The address of the service: files of pages lie three folders below it. */
export const ROOT = new URL('../../../', import.meta.url)

const KEY = 'agro.theme'
const THEMES = ['auto', 'light', 'dark'] as const

/** The visitor's choice; `auto` follows the system. */
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
function themeChooser() {
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

/** Has the browser keep the pages, so that they open where there is no network. */
function keepForOffline() {
  // Only where the address is a safe one; others go on without.
  if (!('serviceWorker' in navigator)) return
  const worker = new URL('web/service-worker.js', ROOT)
  navigator.serviceWorker.register(worker, { scope: ROOT.pathname }).catch(() => {})
}

/** The pages that the frame leads to, by their names in the texts; addresses are those below the service's own. */
const PAGES = [
  ['map', './'],
  ['field', 'field'],
  ['points', 'points'],
  ['districts', 'districts'],
  ['account', 'account'],
] as const

/**
 * Makes the frame of a page: its head with the way to the others, and a `main` for its content.
 *
 * @param current null for one that no link of the head leads to
 * @returns the empty `main`
 */
export function frame(current: (typeof PAGES)[number][0] | 'docs' | null): HTMLElement {
  const main = element('main', { id: 'content', tabIndex: -1 })
  const skip = element('a', { className: 'skip', href: '#content' }, TEXTS.skip)
  // The hash says what is shown, so it does not change.
  skip.addEventListener('click', (event) => {
    event.preventDefault()
    main.focus()
  })
  const { content: path } = document.querySelector<HTMLMetaElement>('meta[name=documentation]') ?? {}
  const documentation = path === undefined ? [] : [['docs', path] as const]
  const links = [...PAGES, ...documentation].map(([name, href]) =>
    element(
      'a',
      { href: new URL(href, ROOT).href, 'aria-current': name === current && 'page' },
      TEXTS.nav[name],
    ),
  )
  const mark = element('img', {
    src: new URL('../mark.svg', import.meta.url).href,
    width: 28,
    height: 28,
    alt: '',
  })
  const offline = element('p', { className: 'offline', role: 'status' })
  let busy = ''
  const tell = () => offline.replaceChildren(navigator.onLine ? busy : TEXTS.offline)
  onBusy((seconds, isPreparing) => {
    const text = isPreparing ? TEXTS.preparing : TEXTS.busy
    busy = seconds === null ? '' : text(seconds)
    tell()
  })
  const demo = element('p', { className: 'loading', role: 'status' })
  onDemo((part) => {
    const again = button(TEXTS.showAll, () => location.reload(), 'link')
    demo.replaceChildren(
      ...(part ? [TEXTS.demoLoading(part.loaded, part.of)] : [TEXTS.demoLoaded, ' ', again]),
    )
  })
  addEventListener('online', tell)
  addEventListener('offline', tell)
  tell()
  document.body.replaceChildren(
    skip,
    element(
      'header',
      { className: 'head' },
      mark,
      element('h1', {}, TEXTS.name),
      element('nav', { 'aria-label': TEXTS.nav.label }, ...links),
      themeChooser(),
    ),
    offline,
    demo,
    main,
  )
  keepForOffline()
  return main
}
