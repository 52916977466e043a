import { TEXTS } from '../texts/en.ts'
import { element } from './element.ts'
import { keepForOffline } from './offline.ts'
import { ROOT } from './root.ts'
import { themeChooser } from './theme.ts'

/** The pages that the frame leads to, by their names in the texts; addresses are those below the service's own. */
const PAGES = [
  ['map', './'],
  ['field', 'field'],
  ['points', 'points'],
  ['districts', 'districts'],
  ['account', 'account'],
  ['docs', 'docs'],
] as const

/**
 * Makes the frame of a page: its head with the way to the others, and a `main` for its content.
 *
 * @param current null for one that no link of the head leads to
 * @returns the empty `main`
 */
export function frame(current: (typeof PAGES)[number][0] | null): HTMLElement {
  const main = element('main', { id: 'content', tabIndex: -1 })
  const skip = element('a', { className: 'skip', href: '#content' }, TEXTS.skip)
  // The hash says what is shown, so it does not change.
  skip.addEventListener('click', (event) => {
    event.preventDefault()
    main.focus()
  })
  const links = PAGES.map(([name, href]) =>
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
  const tell = () => offline.replaceChildren(navigator.onLine ? '' : TEXTS.offline)
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
    main,
  )
  keepForOffline()
  return main
}
