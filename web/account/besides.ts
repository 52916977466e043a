import { column } from '../parts/blocks.ts'
import type { Session } from '../parts/session.ts'
import { button, element } from '../shell/element.ts'
import { account, history, operations } from '../texts/en.ts'

/**
 * Sections of a page of the account, with a list at their side: of the pages of an account, and of the sections that have a
 * heading, which it leads to. Where somebody is, is marked.
 *
 * @param own a page that only a link elsewhere leads to
 */
export function besides(
  session: Session,
  sections: (HTMLElement | null)[],
  own?: [path: string, title: string],
) {
  const here = location.pathname
  const pages: [path: string, title: string][] = [
    ['account', account.title],
    ['account/history', history.title],
    ...(session.user()?.role === 'admin' ? [['operations', operations.title] as [string, string]] : []),
    ...(own ? [own] : []),
  ]
  const links = pages.map(([href, title]) => {
    const link = element('a', { href }, title)
    if (new URL(href, document.baseURI).pathname === here) link.setAttribute('aria-current', 'page')
    return link
  })
  const leads = sections.flatMap((section) => {
    const heading = section?.querySelector<HTMLElement>(':scope > h3')
    if (!heading) return []
    const lead = button(
      heading.textContent ?? '',
      () => {
        for (const one of leads) one.removeAttribute('aria-current')
        lead.setAttribute('aria-current', 'true')
        heading.tabIndex = -1
        heading.scrollIntoView()
        heading.focus()
      },
      'link',
    )
    return [lead]
  })
  const items = [...links, ...leads].map((one) => element('li', {}, one))
  return element(
    'div',
    { class: 'besides' },
    element('nav', { 'aria-label': account.parts }, element('ul', {}, ...items)),
    column(...sections),
  )
}
