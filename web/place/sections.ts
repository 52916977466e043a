import { normalFirst } from '../parts/seasons.ts'

/**
 * What a product says at a place, in a form that is the same for all products.
 *
 * @typedef {object} Section
 * @property {string} product
 * @property {string} unit
 * @property {string | null} release
 * @property {string | null} period the month, in words
 * @property {boolean} synthetic
 * @property {boolean} stale
 * @property {{ input: string | null, scenario: string | null, value: number }[]} entries
 * @property {string | null} reason why there is no value
 */

/**
 * Reads the answer about all products at a point.
 *
 * @param {import('../api-types.ts').CatalogProduct[]} products
 * @param {Record<string, any>} answer
 * @returns {Section[]}
 */
export function sectionsOf(products, answer) {
  return products.map(({ product, unit, value }) => {
    const section = answer[product] ?? {}
    return {
      product,
      unit,
      release: section.release ?? null,
      period: section.forecast_period ?? null,
      synthetic: section.synthetic === true,
      stale: section.stale === true,
      entries: entriesOf(section, value.key),
      reason: section.error ?? null,
    }
  })
}

/**
 * The entries of an answer about one product: its list has another name and other keys in each.
 *
 * @param {Record<string, any>} section
 * @param {string} key of values
 * @returns {Section['entries']}
 */
export function entriesOf(section, key) {
  const entries =
    Object.values(section).find((member) => Array.isArray(member) && key in (member[0] ?? {})) ?? []
  const read = entries.map((/** @type {Record<string, any>} */ entry) => {
    const input = Object.entries(entry).find(([name]) => name !== key && name !== 'scenario')?.[1]
    return { input: input ?? null, scenario: entry.scenario ?? null, value: entry[key] }
  })
  return normalFirst(read, (entry) => entry)
}

/**
 * Where no product has a value the answer is an error, whose details say why of each.
 *
 * @param {import('../api-types.ts').CatalogProduct[]} products
 * @param {import('../shell/api.ts').ApiFailure} failure
 * @returns {Section[]}
 */
export function sectionsOfFailure(products, failure) {
  return products.map(({ product, unit }) => {
    const reason = failure.details.find(({ field }) => field === product)?.message ?? failure.message
    return { product, unit, release: null, period: null, synthetic: false, stale: false, entries: [], reason }
  })
}
