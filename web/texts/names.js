import { TEXTS } from './en.js'

/** @param {string} code of a product that the texts may not know */
export function nameOfProduct(code) {
  return TEXTS.products[code] ?? code.charAt(0).toUpperCase() + code.slice(1)
}

/** @param {string} month as `YYYY-MM` */
export function nameOfMonth(month) {
  const first = new Date(`${month}-01T00:00:00Z`)
  return first.toLocaleDateString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
}

/**
 * What a layer shows, in words.
 *
 * @param {string} product
 * @param {{ input: string | null, scenario: string | null }} layer
 */
export function nameOfLayer(product, { input, scenario }) {
  return [nameOfProduct(product), input, scenario].filter((part) => part !== null).join(', ')
}

const NUMBERS = new Intl.NumberFormat('en', { maximumFractionDigits: 4 })

/** @param {number} value */
export const numberText = (value) => NUMBERS.format(value)
