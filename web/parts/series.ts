import { choicesOf, placeChoicesOf } from '../map/choices.ts'
import { element, labelled, select } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfMonth, nameOfProduct, nameOfSource } from '../texts/names.ts'

/** @typedef {import('../api-types.ts').Catalog} Catalog */
/** @typedef {{ product: string | null, country: string | null, crop: string | null, month: string | null }} Series */

/**
 * The choosers of what advice is wanted on.
 *
 * @param {Catalog} catalog
 * @param {Series} wanted
 * @param {(chosen: Series) => void} choose
 */
export function seriesChoosers(catalog, wanted, choose) {
  const choices = choicesOf(catalog, wanted)
  if (!choices) return { release: undefined, place: element('p', {}, TEXTS.nothingPublished) }
  const { release, products, countries, crops, months } = choices
  const chosen = {
    product: release.product,
    country: release.country_code,
    crop: release.crop,
    month: release.forecast_period,
  }
  const place = choosersOf(
    catalog,
    { product: products, country: countries, crop: crops, month: months },
    chosen,
    choose,
  )
  return { release, place }
}

/**
 * The choosers of where and for which crop advice on all products is wanted.
 *
 * @param {Catalog} catalog
 * @param {Series} wanted
 * @param {(chosen: Series) => void} choose
 */
export function placeChoosers(catalog, wanted, choose) {
  const choices = placeChoicesOf(catalog, wanted)
  const chosen = { ...wanted, country: choices?.country ?? null, crop: choices?.crop ?? null }
  const place = choices
    ? choosersOf(catalog, { country: choices.countries, crop: choices.crops }, chosen, choose)
    : element('p', {}, TEXTS.nothingPublished)
  return { chosen, place, extent: choices?.releases[0]?.grids[0]?.extent }
}

/**
 * A chooser of each kind that has any values.
 *
 * @param {Catalog} catalog
 * @param {Partial<Record<keyof Series, string[]>>} offered
 * @param {Series} chosen
 * @param {(chosen: Series) => void} choose
 */
function choosersOf(catalog, offered, chosen, choose) {
  const texts = TEXTS.choosers
  const kinds = {
    product: { label: texts.product, name: nameOfProduct },
    country: {
      label: texts.country,
      name: (/** @type {string} */ code) => nameIn(catalog.countries, code),
    },
    crop: { label: texts.crop, name: (/** @type {string} */ code) => nameIn(catalog.crops, code) },
    month: { label: texts.month, name: nameOfMonth },
  }
  const controls = /** @type {(keyof Series)[]} */ (Object.keys(offered)).map((kind) => {
    const { label, name } = kinds[kind]
    const values = offered[kind] ?? []
    if (values.length === 0) return false
    const options = values.map((value) => ({ value, text: name(value) }))
    const control = select(options, chosen[kind], (value) => choose({ ...chosen, [kind]: value }))
    control.name = kind
    return labelled(label, control)
  })
  return element('div', { class: 'choosers' }, ...controls)
}

/** @param {{ code: string, name: string }[]} named @param {string} code */
function nameIn(named, code) {
  return named.find((one) => one.code === code)?.name ?? code
}

/**
 * What the address of a page says of a series.
 *
 * @param {URLSearchParams} view
 * @returns {Series}
 */
export function seriesIn(view) {
  const [product = null, country = null, crop = null, month = null] = [
    'product',
    'country',
    'crop',
    'month',
  ].map((name) => view.get(name))
  return { product, country, crop, month }
}

/** @param {import('../api-types.ts').CatalogRelease} release */
export function sourceText(release) {
  return `${release.release}: ${nameOfSource(release)}`
}
