import { valueFormat } from './numbers.ts'
import { normalFirst } from './seasons.ts'

/** @typedef {Record<string, unknown>} Entry of an answer, as the service gives it */
/** @typedef {import('../api-types.ts').CatalogProduct} Product */

/**
 * The entries of an answer of any product: `yield_data`, `fertilizer_data` ... None where it has an error. The normal
 * season comes first.
 *
 * @param {object} answer
 * @returns {Entry[]}
 */
export function entriesOf(answer) {
  /** @type {Entry[]} */
  const entries = Object.entries(answer).find(([name]) => name.endsWith('_data'))?.[1] ?? []
  return normalFirst(entries, ({ scenario, ...entry }) => ({ input: labelOf(entry), scenario }))
}

/**
 * What an entry is of, such as Urea and Normal, in one text.
 *
 * @param {Entry} entry
 */
export function labelOf(entry) {
  return Object.values(entry)
    .filter((value) => typeof value === 'string')
    .join(', ')
}

/**
 * The values of an answer by what they are of.
 *
 * @param {object} answer
 * @param {Product} product
 * @returns {Map<string, number>}
 */
export function valuesOf(answer, { value }) {
  return new Map(entriesOf(answer).map((entry) => [labelOf(entry), /** @type {number} */ (entry[value.key])]))
}

/**
 * The names of all columns of values, in the order of the answers.
 *
 * @param {Iterable<Map<string, number>>} rows
 */
export function valueColumns(rows) {
  /** @type {Set<string>} */
  const columns = new Set()
  for (const row of rows) for (const name of row.keys()) columns.add(name)
  return [...columns]
}

/**
 * All values of an answer in a line; also of the answer about every product, which has one of each.
 *
 * @param {Record<string, unknown>} answer
 * @param {import('../api-types.ts').Catalog} catalog
 */
export function valuesText(answer, { products }) {
  return products
    .flatMap((product) => {
      const own = answer[product.product]
      const values = valuesOf(typeof own === 'object' && own !== null ? own : answer, product)
      const text = valueFormat(values.values())
      return [...values]
        .filter(([, value]) => typeof value === 'number')
        .map(([label, value]) => `${label} ${text(value)} ${product.unit}`)
    })
    .join('; ')
}
