import type { Catalog, CatalogRelease } from '../api-types.ts'
import { chooser, element, optionsOf } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameIn, nameOfMonth, nameOfProduct, nameOfSource } from '../texts/names.ts'
import { choicesOf, placeChoicesOf } from './choices.ts'

/** An address has it, so it is no interface: those are not indexed by names. */
export type Series = Record<'product' | 'country' | 'crop' | 'month', string | null>

export const NO_SERIES: Series = { product: null, country: null, crop: null, month: null }

/** The choosers of what advice is wanted on. */
export function seriesChoosers(catalog: Catalog, wanted: Series, choose: (chosen: Series) => void) {
  const choices = choicesOf(catalog, wanted)
  if (!choices)
    return { release: undefined, chosen: NO_SERIES, place: element('p', {}, TEXTS.nothingPublished) }
  const { release, products, countries, crops, months } = choices
  const chosen = {
    product: release.product,
    country: release.country_code,
    crop: release.crop,
    month: release.forecast_period,
  }
  const offered = { product: products, country: countries, crop: crops, month: months }
  return { release, chosen, place: choosersOf(catalog, offered, chosen, choose) }
}

/** The choosers of where and for which crop advice on all products is wanted. */
export function placeChoosers(catalog: Catalog, wanted: Series, choose: (chosen: Series) => void) {
  const choices = placeChoicesOf(catalog, wanted)
  const chosen = { ...wanted, country: choices?.country ?? null, crop: choices?.crop ?? null }
  const place = choices
    ? choosersOf(catalog, { country: choices.countries, crop: choices.crops }, chosen, choose)
    : element('p', {}, TEXTS.nothingPublished)
  return { chosen, place, extent: choices?.releases[0]?.grids[0]?.extent }
}

/** A chooser of each kind that has any values. */
function choosersOf(
  catalog: Catalog,
  offered: Partial<Record<keyof Series, string[]>>,
  chosen: Series,
  choose: (chosen: Series) => void,
) {
  const texts = TEXTS.choosers
  const kinds = {
    product: { label: texts.product, name: nameOfProduct },
    country: { label: texts.country, name: (code: string) => nameIn(catalog.countries, code) },
    crop: { label: texts.crop, name: (code: string) => nameIn(catalog.crops, code) },
    month: { label: texts.month, name: nameOfMonth },
  }
  const controls = (Object.keys(offered) as (keyof Series)[]).map((kind) => {
    const { label, name } = kinds[kind]
    const values = offered[kind] ?? []
    if (values.length === 0) return false
    return chooser(label, kind, optionsOf(values, name), chosen[kind], (value) =>
      choose({ ...chosen, [kind]: value }),
    )
  })
  return element('div', { class: 'choosers' }, ...controls)
}

/** The series in the address of a page. */
export function seriesIn(view: URLSearchParams): Series {
  const wanted = Object.keys(NO_SERIES).map((name) => [name, view.get(name)])
  return { ...NO_SERIES, ...Object.fromEntries(wanted) }
}

export function sourceText(release: CatalogRelease) {
  return `${release.release}: ${nameOfSource(release)}`
}
