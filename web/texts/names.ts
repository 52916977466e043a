import { TEXTS } from './en.ts'

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

/**
 * Where a release comes from. Of demonstration data the page says so already.
 *
 * @param {{ synthetic: boolean, source: string, licence: string }} release
 */
export function nameOfSource({ synthetic, source, licence }) {
  return synthetic ? TEXTS.place.licence(licence) : TEXTS.place.source(source, licence)
}

const AGES = new Intl.RelativeTimeFormat('en')

const UNITS = /** @type {const} */ ([
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
])

/**
 * How long ago something was, in the largest unit of which it is two or more.
 *
 * @param {number} time in milliseconds since 1970
 * @param {number} [now]
 */
export function agoText(time, now = Date.now()) {
  const age = Math.max(0, now - time)
  const [unit, length] = UNITS.find(([, one]) => age >= 2 * one) ?? ['second', 1000]
  return AGES.format(-Math.floor(age / length), unit)
}

const NUMBERS = new Intl.NumberFormat('en', { maximumFractionDigits: 4 })

/** @param {number} value */
export const numberText = (value) => NUMBERS.format(value)

/** Counts, and milliseconds: of what takes long, nobody needs the parts of one. @param {number} value */
export const wholeText = (value) => numberText(value >= 10 ? Math.round(value) : value)
