import { QUANTITY_LIMITS, type QuantityRequest } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import type { Decimal } from '#src/lib/decimal.ts'
import {
  currencyAndRest,
  membersOf,
  type NumbersByName,
  numberIn,
  objectOfPairs,
  pairsIn,
  readCurrency,
  readNumberOf,
  readNumbersByName,
} from './reading.ts'
import { pricePerKilogramIn } from './units.ts'

/** What inputs cost. */
export interface Prices {
  currency: string
  perKg: NumbersByName
  perBag: NumbersByName
}

/**
 * The prices of a request; null where it has none.
 *
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function readPrices(sent: QuantityRequest['prices']): Prices | null {
  if (sent === undefined) return null
  const fields = typeof sent === 'string' ? pricesIn(sent) : sent
  const { currency, per_kg, per_bag } = membersOf('prices', fields, ['currency', 'per_kg', 'per_bag'])
  const bounds = { zero: true, maximum: QUANTITY_LIMITS.price }
  const prices = {
    currency: readCurrency('prices.currency', currency),
    perKg: readNumbersByName('prices.per_kg', per_kg ?? {}, bounds),
    perBag: readNumbersByName('prices.per_bag', per_bag ?? {}, bounds),
  }
  if (prices.perKg.size + prices.perBag.size === 0) {
    throw ApiError.invalid('prices', 'must have a price in per_kg or per_bag')
  }
  const twice = [...prices.perKg].find(([key]) => prices.perBag.has(key))
  if (twice) throw ApiError.invalid('prices', `must have one price of ${twice[1].name}: per_kg or per_bag`)
  return prices
}

/** Prices as a query writes them: `ETB Urea:2250/bag,Compost:4.5`. */
function pricesIn(text: string): object {
  const { currency, rest } = currencyAndRest('prices', text)
  const pairs = pairsIn('prices', rest)
  const perBag = pairs.filter(([, price]) => price.endsWith('/bag'))
  const perKg = pairs.filter(([, price]) => !price.endsWith('/bag'))
  const ofBag = (price: string) => numberIn(price.slice(0, -'/bag'.length))
  return {
    currency,
    per_bag: objectOfPairs('prices', perBag, ofBag),
    per_kg: objectOfPairs('prices', perKg, pricePerKilogramIn),
  }
}

/**
 * What a harvest is sold for; null where that is not said.
 *
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function readProducePrice(
  sent: QuantityRequest['produce_price'],
): { currency: string; perKg: Decimal } | null {
  if (sent === undefined) return null
  const fields = typeof sent === 'string' ? producePriceIn(sent) : sent
  const { currency, per_kg } = membersOf('produce_price', fields, ['currency', 'per_kg'])
  return {
    currency: readCurrency('produce_price.currency', currency),
    perKg: readNumberOf('produce_price.per_kg', per_kg, { zero: true, maximum: QUANTITY_LIMITS.price }),
  }
}

function producePriceIn(text: string): { currency: string; per_kg: unknown } {
  const { currency, rest } = currencyAndRest('produce_price', text)
  return { currency, per_kg: pricePerKilogramIn(rest.trim()) }
}
