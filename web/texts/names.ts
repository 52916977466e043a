import { TEXTS } from './en.ts'

/** @param code of a product that the texts may not know */
export function nameOfProduct(code: string) {
  return TEXTS.products[code] ?? code.charAt(0).toUpperCase() + code.slice(1)
}

/** @param month as `YYYY-MM` */
export function nameOfMonth(month: string) {
  const first = new Date(`${month}-01T00:00:00Z`)
  return first.toLocaleDateString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
}

/** A layer in words. */
export function nameOfLayer(
  product: string,
  { input, scenario }: { input: string | null; scenario: string | null },
) {
  return [nameOfProduct(product), input, scenario].filter((part) => part !== null).join(', ')
}

/** Where a release comes from. Of demonstration data the page says so already. */
export function nameOfSource({
  synthetic,
  source,
  licence,
}: {
  synthetic: boolean
  source: string
  licence: string
}) {
  return synthetic ? TEXTS.place.licence(licence) : TEXTS.place.source(source, licence)
}

const AGES = new Intl.RelativeTimeFormat('en')

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/**
 * How long ago something was, in the largest unit of which it is two or more.
 *
 * @param time in milliseconds since 1970
 */
export function agoText(time: number, now: number = Date.now()) {
  const age = Math.max(0, now - time)
  const [unit, length] = UNITS.find(([, one]) => age >= 2 * one) ?? ['second', 1000]
  return AGES.format(-Math.floor(age / length), unit)
}

const NUMBERS = new Intl.NumberFormat('en', { maximumFractionDigits: 4 })

export const numberText = (value: number) => NUMBERS.format(value)

/** Counts, and milliseconds: of what takes long, nobody needs the parts of one. */
export const wholeText = (value: number) => numberText(value >= 10 ? Math.round(value) : value)
