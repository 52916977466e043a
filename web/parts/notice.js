import { element } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'

/**
 * Where something that a page shows is made up. A page says so once.
 *
 * @param {boolean} isSynthetic
 */
export function syntheticNotice(isSynthetic) {
  return element('p', { className: 'notice', hidden: !isSynthetic }, TEXTS.synthetic)
}
