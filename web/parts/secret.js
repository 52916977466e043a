import { copyButton } from '../shell/copy.js'
import { element } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'

/**
 * Something that is shown once, with a button that copies it.
 *
 * @param {string} label
 * @param {string} text
 */
export function shownOnce(label, text) {
  const shown = element('output', { class: 'secret', 'aria-label': label, tabindex: 0 }, text)
  return element(
    'div',
    { class: 'once' },
    shown,
    copyButton(TEXTS.copy, () => text),
  )
}
