import type { Session } from '../account/session.ts'
import { allItems } from '../account/session.ts'
import { loaded, section, timeText } from '../parts/blocks.ts'
import { tableOf } from '../parts/table.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { agoText, nameOfProduct } from '../texts/names.ts'
import type { Release } from './releases.ts'

type Load = Release & { load: 'running' | 'cut_off' | 'unknown' }

const { loads } = TEXTS

/** Releases that are not complete: being loaded, or left by loads that were cut off. */
export function loadsSection(session: Session, left: AbortSignal) {
  return section(
    loads.title,
    element('p', {}, loads.why),
    loaded(async () => {
      const items: Load[] = await allItems(session, 'releases', { state: 'incomplete' }, left)
      return items.length === 0 ? element('p', {}, loads.none) : tableOfLoads(items)
    }),
  )
}

function tableOfLoads(items: Load[]) {
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
