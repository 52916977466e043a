import { copyButton, element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

/** Something that is shown once, with a button that copies it. */
export function shownOnce(label: string, text: string) {
  const shown = element('output', { class: 'secret', 'aria-label': label, tabindex: 0 }, text)
  return element(
    'div',
    { class: 'once' },
    shown,
    copyButton(TEXTS.copy, () => text),
  )
}
