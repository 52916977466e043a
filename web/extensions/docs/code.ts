import { copyButton } from '../../shell/element.ts'
import { TEXTS } from '../../texts/en.ts'
import { withAddressesOfVisitor } from './following.ts'

/** Where the browser remembers the language of code, until it is closed. */
const LANGUAGE = 'docs-language'

/** Gives blocks of code the addresses of this visitor, and a button that copies. */
export function prepareCode(within: ParentNode) {
  for (const block of within.querySelectorAll('.code')) {
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      text.nodeValue = withAddressesOfVisitor(text.nodeValue ?? '')
    }
    const code = block.querySelector('code')
    block.append(copyButton(TEXTS.copy, () => code?.textContent ?? ''))
  }
}

/** Has all samples of the page in the language that is chosen. */
export function followLanguage() {
  const show = (language: string) => {
    document.documentElement.dataset.language = language
  }
  const before = sessionStorage.getItem(LANGUAGE) ?? 'sh'
  show(before)
  for (const choice of document.querySelectorAll<HTMLInputElement>('input[name="language"]')) {
    choice.checked = choice.value === before
    choice.addEventListener('change', () => {
      sessionStorage.setItem(LANGUAGE, choice.value)
      show(choice.value)
    })
  }
}
