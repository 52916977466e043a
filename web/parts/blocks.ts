import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

/** A part of a page, under a heading of its own. */
export function section(title: string, ...content: (Node | string | null | undefined | false)[]) {
  return element('section', { class: 'card' }, element('h3', {}, title), ...content)
}

/**
 * A place whose content has to be asked for: says that it is loading, then what is there or why it is not, with a
 * button to try again.
 */
export function loaded(load: () => Promise<Node>): HTMLElement & { reload: () => Promise<void> } {
  const place = element('div', { class: 'loaded', 'aria-busy': 'true' }, TEXTS.loading)
  async function reload() {
    place.setAttribute('aria-busy', 'true')
    try {
      place.replaceChildren(await load())
    } catch (error) {
      if ((error as Error).name !== 'AbortError') place.replaceChildren(problem(error, reload))
    }
    place.removeAttribute('aria-busy')
  }
  void reload()
  return Object.assign(place, { reload })
}

export function problem(error: unknown, again: () => unknown) {
  return element(
    'p',
    { class: 'problem', role: 'alert' },
    TEXTS.failed((error as Error).message),
    ' ',
    element('button', { type: 'button', class: 'quiet', onclick: again }, TEXTS.again),
  )
}

/** A button that says in a line beside it how it went. */
export function workButton(
  label: string,
  work: () => Promise<string | undefined> | Promise<void>,
  attributes: { class?: string; 'aria-label'?: string } = {},
) {
  const said = element('span', { role: 'status' })
  const button = element('button', { type: 'button', class: 'quiet', ...attributes }, label)
  button.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return
    button.setAttribute('aria-disabled', 'true')
    said.replaceChildren()
    try {
      said.replaceChildren((await work()) ?? '')
    } catch (error) {
      said.replaceChildren((error as Error).message)
    }
    button.removeAttribute('aria-disabled')
  })
  return element('span', { class: 'work' }, button, ' ', said)
}

/** A time as the visitor writes it. */
export function timeText(time: string | null) {
  return time === null
    ? TEXTS.never
    : new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}
