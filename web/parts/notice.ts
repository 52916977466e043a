import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

/** Where something that a page shows is made up. A page says so once. */
export function syntheticNotice(isSynthetic: boolean) {
  return element('p', { className: 'notice', hidden: !isSynthetic }, TEXTS.synthetic)
}
