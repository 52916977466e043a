import { loaded, section, timeText } from '../parts/blocks.ts'
import { tableOf } from '../parts/table.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { agoText, nameOfProduct } from '../texts/names.ts'
import { allItems } from './pages.ts'

/** @typedef {import('./releases.ts').Release & { load: 'running' | 'cut_off' | 'unknown' }} Load */

const { loads } = TEXTS

/**
 * Releases that are not complete: being loaded, or left by loads that were cut off.
 *
 * @param {import('../account/session.ts').Session} session
 * @param {AbortSignal} left
 */
export function loadsSection(session, left) {
  return section(
    loads.title,
    element('p', {}, loads.why),
    loaded(async () => {
      /** @type {Load[]} */
      const items = await allItems(session, 'releases', { state: 'incomplete' }, left)
      return items.length === 0 ? element('p', {}, loads.none) : tableOfLoads(items)
    }),
  )
}

/** @param {Load[]} items */
function tableOfLoads(items) {
  return tableOf({
    caption: loads.caption,
    columns: Object.values(loads.columns).map((title) => ({ title })),
    rows: items.map((one) => {
      const begun = Date.parse(one.loaded_at)
      return {
        cells: [
          one.release,
          loads.states[one.load],
          Date.now() - begun,
          one.loaded_at,
          nameOfProduct(one.product),
          one.country_code,
          one.crop,
          one.forecast_period,
          one.source,
        ],
        shown: [undefined, undefined, agoText(begun), timeText(one.loaded_at)],
        mark: one.load === 'cut_off' ? 'wrong' : '',
      }
    }),
  })
}
