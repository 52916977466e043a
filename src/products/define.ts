import { ALL_PRODUCTS, type ProductContract } from '#schemas/product.ts'

/** All there is to know of a product: everything else about it follows from this. */
export interface ProductDefinition extends ProductContract {
  /** Between which values are plausible, of any crop and in any place; operators say it more closely. */
  plausible: { minimum: number; maximum: number }
  /** Decimals of the answers, where a layer does not say otherwise. */
  decimals: number
  input: (NonNullable<ProductContract['input']> & { names: string }) | null
}

/** The products of a service. */
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
 * @throws {TypeError} says what is wrong with it
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
  if (!seasonal && input === null) refuse('has nothing to tell its layers apart')
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 10) refuse('must have 0 to 10 decimals')
  if (!(plausible.minimum < plausible.maximum)) refuse('must have plausible values')
  return Object.freeze(definition)
}

/** The keys of what can be observed in the field. */
export function observableKeysOf(products: readonly ProductDefinition[]): string[] {
  return products.flatMap(({ observed }) => observed?.key ?? [])
}

/**
 * Products of one service.
 *
 * @throws {TypeError} where two share what has to tell them apart
 */
export function productsOf(list: readonly ProductDefinition[]): Products {
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
