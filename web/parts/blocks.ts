import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

/**
 * A part of a page, under a heading of its own.
 *
 * @param {string} title
 * @param {...(Node | string | null | undefined | false)} content
 */
export function section(title, ...content) {
  return element('section', { class: 'card' }, element('h3', {}, title), ...content)
}

/**
 * A place whose content has to be asked for: says that it is loading, then what is there or why it is not, with a
 * button to try again.
 *
 * @param {() => Promise<Node>} load
 * @returns {HTMLElement & { reload: () => Promise<void> }}
 */
export function loaded(load) {
  const place = element('div', { class: 'loaded', 'aria-busy': 'true' }, TEXTS.loading)
  async function reload() {
    place.setAttribute('aria-busy', 'true')
    try {
      place.replaceChildren(await load())
    } catch (error) {
      if (/** @type {Error} */ (error).name !== 'AbortError') place.replaceChildren(problem(error, reload))
    }
    place.removeAttribute('aria-busy')
  }
  void reload()
  return Object.assign(place, { reload })
}

/**
 * @param {unknown} error
 * @param {() => unknown} again
 */
export function problem(error, again) {
  return element(
    'p',
    { class: 'problem', role: 'alert' },
    TEXTS.failed(/** @type {Error} */ (error).message),
    ' ',
    element('button', { type: 'button', class: 'quiet', onclick: again }, TEXTS.again),
  )
}

/**
 * A button that says in a line beside it how it went.
 *
 * @param {string} label
 * @param {() => Promise<string | void>} work
 * @param {{ class?: string, 'aria-label'?: string }} [attributes]
 */
export function workButton(label, work, attributes = {}) {
  const said = element('span', { role: 'status' })
  const button = element('button', { type: 'button', class: 'quiet', ...attributes }, label)
  button.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return
    button.setAttribute('aria-disabled', 'true')
    said.replaceChildren()
    try {
      said.replaceChildren((await work()) ?? '')
    } catch (error) {
      said.replaceChildren(/** @type {Error} */ (error).message)
    }
    button.removeAttribute('aria-disabled')
  })
  return element('span', { class: 'work' }, button, ' ', said)
}

/**
 * A time as the visitor writes it.
 *
 * @param {string | null} time
 */
export function timeText(time) {
  return time === null
    ? TEXTS.never
    : new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}
