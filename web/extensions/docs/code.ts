import { button, copyButton } from '../../shell/element.ts'
import { TEXTS } from '../../texts/en.ts'
import { withAddressesOfVisitor } from './following.ts'
import { docs } from './texts.ts'

/** Where the browser remembers the language of code, until it is closed. */
const LANGUAGE = 'docs-language'

/** Gives blocks of code the addresses of this visitor, and a button that copies. */
export function prepareCode(within: ParentNode) {
  for (const block of within.querySelectorAll('.code')) {
    const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      text.nodeValue = withAddressesOfVisitor(text.nodeValue ?? '')
    }
    const [pre] = block.getElementsByTagName('pre')
    const text = pre?.textContent ?? ''
    const whole = button(docs.whole(text.split('\n').length), () => {
      block.classList.add('whole')
      pre?.focus()
    })
    // Another language, or another width of the window, may show more of it.
    const observer = new ResizeObserver(() => {
      whole.hidden = !pre || pre.scrollHeight <= pre.clientHeight
    })
    if (pre) observer.observe(pre)
    const buttons = copyButton(TEXTS.copy, () => text)
    buttons.prepend(whole)
    block.append(buttons)
  }
}

/** Has links to guides, in a part that is of no page, lead on from this one. */
export function pointGuides(within: ParentNode, folder: string) {
  for (const link of within.querySelectorAll<HTMLAnchorElement>('a[href^="/docs/"]'))
    link.setAttribute('href', folder + link.pathname.replace('/docs/', ''))
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
