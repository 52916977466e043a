import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

/**
 * Where something that a page shows is made up. A page says so once.
 *
 * @param {boolean} isSynthetic
 */
export function syntheticNotice(isSynthetic) {
  return element('p', { className: 'notice', hidden: !isSynthetic }, TEXTS.synthetic)
}
