import { choicesOf } from '../map/choices.js'
import { element, labelled, select } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'
import { nameOfMonth, nameOfProduct } from '../texts/names.js'

/** @typedef {import('../api-types').Catalog} Catalog */
/** @typedef {{ product: string | null, country: string | null, crop: string | null, month: string | null }} Series */

/**
 * The choosers of what advice is wanted on.
 *
 * @param {Catalog} catalog
 * @param {Series} wanted
 * @param {(chosen: Series) => void} choose
 * @param {(keyof Series)[]} [kinds] which of them there are
 */
export function seriesChoosers(catalog, wanted, choose, kinds = ['product', 'country', 'crop', 'month']) {
  const choices = choicesOf(catalog, wanted)
  if (!choices) return { release: undefined, place: element('p', {}, TEXTS.nothingPublished) }
  const { release, products, countries, crops, months } = choices
  const chosen = {
    product: release.product,
    country: release.country_code,
    crop: release.crop,
    month: release.forecast_period,
  }
  const texts = TEXTS.choosers
  const all = {
    product: { label: texts.product, values: products, name: nameOfProduct },
    country: {
      label: texts.country,
      values: countries,
      name: (/** @type {string} */ code) => nameIn(catalog.countries, code),
    },
    crop: {
      label: texts.crop,
      values: crops,
      name: (/** @type {string} */ code) => nameIn(catalog.crops, code),
    },
    month: { label: texts.month, values: months, name: nameOfMonth },
  }
  const controls = kinds.map((kind) => {
    const { label, values, name } = all[kind]
    if (values.length === 0) return false
    const options = values.map((value) => ({ value, text: name(value) }))
    const control = select(options, chosen[kind], (value) => choose({ ...chosen, [kind]: value }))
    control.name = kind
    return labelled(label, control)
  })
  return { release, place: element('div', { class: 'choosers' }, ...controls) }
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

/** @param {import('../api-types').CatalogRelease} release */
export function sourceText({ release, source, licence }) {
  return TEXTS.sourceOf(release, source, licence)
}
