import { ALL_PRODUCTS, type ProductContract } from '../product.ts'

/** All there is to know of a product: everything else about it follows from this. */
export interface ProductDefinition extends ProductContract {
  /** The bounds for any crop and any place; operators set closer ones. */
  plausible: {
    minimum: number
    maximum: number
    /** The least that the largest value of a layer reaches, unless all are 0. */
    largestFrom?: number
    /** The most that the values above 0 of a layer are on average. */
    meanTo?: number
  }
  /** Decimals of the answers, where a layer does not say otherwise. */
  decimals: number
  input: (NonNullable<ProductContract['input']> & { names: string }) | null
}

export interface Products {
  /** In the order of answers and documents. */
  readonly list: readonly ProductDefinition[]
  /** @throws {RangeError} where no product has the code */
  of(code: string): ProductDefinition
}

/** Codes are parts of paths, of the codes of releases and of the names of components. */
const CODE = /^[a-z][a-z0-9]*$/

/** Members of answers and parts of paths beside the codes of products. */
const RESERVED_CODES = [ALL_PRODUCTS, 'point', 'location']

/** Members of entries beside those that a definition names. */
const RESERVED_KEYS = [
  ...['scenario', 'min', 'max', 'stddev', 'covered_percent'],
  ...['quantiles', 'histogram'],
]

/**
 * A product, checked for what its type cannot say.
 *
 * @throws {TypeError} says its mistake
 */
export function defineProduct(definition: ProductDefinition): ProductDefinition {
  const { code, seasonal, value, input, total, decimals, plausible } = definition
  const refuse = (why: string) => {
    throw new TypeError(`the product ${code} ${why}`)
  }
  if (!CODE.test(code) || RESERVED_CODES.includes(code)) refuse('cannot have this code')
  const keys = [value.key, input?.key, total?.key].filter((key) => key !== undefined)
  const taken = keys.find((key, at) => RESERVED_KEYS.includes(key) || keys.indexOf(key) !== at)
  if (taken !== undefined) refuse(`cannot have the key ${taken} twice`)
  if (!seasonal && input === null) refuse('has nothing to distinguish its layers')
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 10) refuse('must have 0 to 10 decimals')
  if (!(plausible.minimum < plausible.maximum)) refuse('must have plausible values')
  return Object.freeze(definition)
}

/** Whether observations can be compared with a product: with several inputs, the used one is unknown. */
export function isObservable({ observed, input }: ProductDefinition): boolean {
  return observed !== null && input === null
}

export function observableKeysOf(products: readonly ProductDefinition[]): string[] {
  return products.flatMap(({ observed }) => observed?.key ?? [])
}

/**
 * Products of one service.
 *
 * @throws {TypeError} where two share what has to distinguish them
 */
export function defineProducts(list: readonly ProductDefinition[]): Products {
  refuseSame(list.map(({ code }) => code))
  refuseSame(list.map(({ entries }) => entries))
  refuseSame(observableKeysOf(list))
  const byCode = new Map(list.map((product) => [product.code, product]))
  return {
    list: Object.freeze([...list]),
    of(code) {
      const product = byCode.get(code)
      if (!product) throw new RangeError(`there is no product ${code}`)
      return product
    },
  }
}

function refuseSame(names: string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new TypeError(`two products have ${twice}`)
}

/** What a release answers for, and what a request asks for. At most one release is published for each. */
export interface Series {
  /** The code of the product. */
  product: string
  /** ISO 3166-1 alpha-3, in lower case. */
  countryCode: string
  /** Null for products that need no crop. */
  cropCode: string | null
  /** ISO date of the first day of the month. Null for products without seasons, and for the newest month. */
  forecastPeriod: string | null
}

/** What says until when a release is of use. Dates are ISO dates. */
export interface Validity {
  forecastPeriod: string | null
  synthetic: boolean
  /** The last day of its season, where its manifest says so. */
  validUntil: string | null
}

/** A season is over a year after its month, whatever grows. */
const MONTHS = 12

/** The last day (UTC) on which a release is of its season; null for what has none, and for synthetic values. */
export function findLastDay({ forecastPeriod, synthetic, validUntil }: Validity): string | null {
  if (synthetic) return null
  if (validUntil !== null || forecastPeriod === null) return validUntil
  const [year, month] = forecastPeriod.split('-').map(Number) as [number, number]
  // Day 0 of a month is the last one of the month before.
  return dayOf(Date.UTC(year, month + MONTHS, 0))
}

export function isStale(release: Validity, now: number): boolean {
  const last = findLastDay(release)
  return last !== null && dayOf(now) > last
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
