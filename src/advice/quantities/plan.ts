import type { ErrorDetail } from '#schemas/common.ts'
import {
  AREA_UNIT_NAMES,
  type AreaUnitName,
  QUANTITY_LIMITS,
  QuantityFields,
  type QuantityRequest,
} from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import { compare, type Decimal, times, toDecimal } from '#src/lib/decimal.ts'
import { isObject } from '#src/lib/json.ts'

interface Bounds {
  /** Whether 0 is allowed. */
  zero: boolean
  maximum: number
}

/** By the keys of names. */
export type NumbersByName = ReadonlyMap<string, { name: string; value: Decimal }>

const { decimals: MOST_DECIMALS, names: MOST_NAMES } = QUANTITY_LIMITS
const LONGEST_NAME = 200
const LONGEST_NUMBER = 40
const NUMBER = /^\d+(\.\d+)?$/

/** Comparison ignores case and surrounding white space. */
export function normalizeName(name: string): string {
  return name.trim().toLowerCase()
}

/** Reads the number of a query or a table. Other text stays text, and is refused later as in a body. */
export function numberIn(text: string): number | string {
  return text.length <= LONGEST_NUMBER && NUMBER.test(text.trim()) ? Number(text) : text
}

/** Reads a number with its decimals as sent. @throws {ApiError} INVALID_PARAMETERS */
export function readNumber(field: string, sent: unknown, { zero, maximum }: Bounds): Decimal {
  const isOne = typeof sent === 'number' && sent <= maximum && (zero ? sent >= 0 : sent > 0)
  const rule = `must be a number ${zero ? 'from' : 'above'} 0 ${zero ? 'to' : 'and at most'} ${maximum}`
  if (!isOne) throw ApiError.invalid(field, rule)
  const decimal = toDecimal(sent)
  if (decimal.scale <= MOST_DECIMALS) return decimal
  throw ApiError.invalid(field, `must have at most ${MOST_DECIMALS} decimals`)
}

/** Reads numbers by names. @throws {ApiError} INVALID_PARAMETERS, naming the wrong one */
function readNumbersByName(field: string, sent: unknown, bounds: Bounds): NumbersByName {
  if (!isObject(sent)) throw ApiError.invalid(field, 'must be an object of names and numbers')
  const entries = Object.entries(sent)
  if (entries.length > MOST_NAMES) throw ApiError.invalid(field, `must have at most ${MOST_NAMES} names`)
  const numbers = new Map<string, { name: string; value: Decimal }>()
  for (const [name, number] of entries) {
    const key = normalizeName(name)
    if (key === '' || name.length > LONGEST_NAME) {
      throw ApiError.invalid(field, `must have names of 1 to ${LONGEST_NAME} characters`)
    }
    if (numbers.has(key)) throw ApiError.invalid(field, `must name ${name} once`)
    numbers.set(key, { name, value: readNumber(`${field}.${name}`, number, bounds) })
  }
  return numbers
}

/** Reads the pairs of a query, such as `Urea:50,DAP:50`. A name may have colons, and no comma. */
function readPairs(field: string, text: string): [name: string, value: string][] {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  if (pairs.length > MOST_NAMES) throw ApiError.invalid(field, `must have at most ${MOST_NAMES} names`)
  return pairs.map((pair) => {
    const colon = pair.lastIndexOf(':')
    if (colon === -1) throw ApiError.invalid(field, 'must be names and numbers such as Urea:50,DAP:50')
    return [pair.slice(0, colon).trim(), pair.slice(colon + 1).trim()]
  })
}

/** @throws {ApiError} INVALID_PARAMETERS for a repeated name */
function combinePairs(
  field: string,
  pairs: [string, string][],
  read = numberIn,
): Record<string, number | string> {
  const twice = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) !== index)
  if (twice) throw ApiError.invalid(field, `must name ${twice[0]} once`)
  return Object.fromEntries(pairs.map(([name, value]) => [name, read(value)]))
}

/** Reads a currency code. @throws {ApiError} INVALID_PARAMETERS */
function readCurrency(field: string, sent: unknown): string {
  if (typeof sent === 'string' && /^[A-Z]{3}$/.test(sent)) return sent
  throw ApiError.invalid(field, 'must be the code of a currency (ISO 4217), such as ETB')
}

/** Splits a text that begins with a currency: `ETB 38.5`. @throws {ApiError} INVALID_PARAMETERS */
function splitCurrency(field: string, text: string): { currency: string; rest: string } {
  const [, currency, rest = ''] = /^\s*([^\s]+)\s+(.*)$/s.exec(text) ?? []
  if (currency === undefined) throw ApiError.invalid(field, 'must begin with a currency, such as ETB')
  return { currency: readCurrency(field, currency), rest }
}

/** Refuses members of an object beside these. @throws {ApiError} INVALID_PARAMETERS */
function requireMembers(field: string, sent: object, names: readonly string[]): Record<string, unknown> {
  const unknown = Object.keys(sent).find((name) => !names.includes(name))
  if (unknown === undefined) return sent as Record<string, unknown>
  const message = `${field}.${unknown} must be left out: ${field} has ${names.join(', ')}`
  const detail: ErrorDetail = { field: `${field}.${unknown}`, message, allowed: [...names] }
  throw new ApiError('INVALID_PARAMETERS', `${message}.`, [detail])
}

const metres = (digits: bigint, scale = 0): Decimal => ({ digits, scale })

/**
 * Units in square metres. Those whose size differs from place to place or from crop to crop, such as the massa, the rope
 * and the pole, are missing.
 */
export const AREA_UNITS: Readonly<Record<AreaUnitName, Decimal>> = {
  ha: metres(10_000n),
  m2: metres(1n),
  are: metres(100n),
  // The international acre of 1959: 4,840 square yards of 0.9144 m.
  acre: metres(40_468_564_224n, 7),
  // By definition a quarter of a hectare, as often reckoned in Ethiopia; surveys have a factor a district.
  timad: metres(2500n),
}

/** Other names of those units. */
const OTHER_NAMES: Readonly<Record<string, AreaUnitName>> = {
  hectare: 'ha',
  'm²': 'm2',
  sqm: 'm2',
  'sq m': 'm2',
  'square metre': 'm2',
  'square meter': 'm2',
}

/** The unit of area that a word means, in any case, also in the plural; undefined where there is none. */
function findAreaUnit(word: string): AreaUnitName | undefined {
  const name = word.trim().toLowerCase().replace(/\s+/g, ' ')
  for (const singular of [name, name.replace(/s$/, '')]) {
    const unit = AREA_UNIT_NAMES.find((known) => known === singular)
    if (unit !== undefined) return unit
    if (Object.hasOwn(OTHER_NAMES, singular)) return OTHER_NAMES[singular]
  }
  return undefined
}

/** Moves the decimal point of a number, so that no digit changes. */
function shift(text: string, power: 2 | -2): number | string {
  return typeof numberIn(text) === 'number' ? Number(`${text.trim()}e${power}`) : text
}

const OF_UNIT = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i

/** Reads kilograms such as `50 kg` or `0.5 quintal`. Other text stays text, and is refused later as in a body. */
function readKilograms(text: string): number | string {
  const [, number = '', unit = ''] = OF_UNIT.exec(text.trim()) ?? []
  if (/^quintals?$/i.test(unit)) return shift(number, 2)
  return /^(kgs?|kilograms?)?$/i.test(unit) ? numberIn(number || text) : text
}

/** Reads a price of a kilogram, such as `52.5`, `52.5/kg` or `5250/quintal`. */
function readPricePerKilogram(text: string): number | string {
  const [, number, unit] = /^(.*)\/(kg|quintal)s?$/i.exec(text) ?? []
  return unit?.toLowerCase() === 'quintal' ? shift(number ?? '', -2) : numberIn(number ?? text)
}

function hectares({ digits, scale }: Decimal): Decimal {
  return { digits, scale: scale + 4 }
}

interface Prices {
  currency: string
  perKg: NumbersByName
  perBag: NumbersByName
}

/** The prices of a request; null where it has none. @throws {ApiError} INVALID_PARAMETERS */
function readPrices(sent: QuantityRequest['prices']): Prices | null {
  if (sent === undefined) return null
  const fields = typeof sent === 'string' ? parsePrices(sent) : sent
  const { currency, per_kg, per_bag } = requireMembers('prices', fields, ['currency', 'per_kg', 'per_bag'])
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
function parsePrices(text: string): object {
  const { currency, rest } = splitCurrency('prices', text)
  const pairs = readPairs('prices', rest)
  const perBag = pairs.filter(([, price]) => price.endsWith('/bag'))
  const perKg = pairs.filter(([, price]) => !price.endsWith('/bag'))
  const readBagPrice = (price: string) => numberIn(price.slice(0, -'/bag'.length))
  return {
    currency,
    per_bag: combinePairs('prices', perBag, readBagPrice),
    per_kg: combinePairs('prices', perKg, readPricePerKilogram),
  }
}

/** The price of a harvest; null where the request has none. @throws {ApiError} INVALID_PARAMETERS */
function readProducePrice(
  sent: QuantityRequest['produce_price'],
): { currency: string; perKg: Decimal } | null {
  if (sent === undefined) return null
  const fields = typeof sent === 'string' ? parseProducePrice(sent) : sent
  const { currency, per_kg } = requireMembers('produce_price', fields, ['currency', 'per_kg'])
  return {
    currency: readCurrency('produce_price.currency', currency),
    perKg: readNumber('produce_price.per_kg', per_kg, { zero: true, maximum: QUANTITY_LIMITS.price }),
  }
}

function parseProducePrice(text: string): { currency: string; per_kg: unknown } {
  const { currency, rest } = splitCurrency('produce_price', text)
  return { currency, per_kg: readPricePerKilogram(rest.trim()) }
}

/** An area as the request has it, and in hectares. */
export interface FieldArea {
  value: Decimal
  unit: AreaUnitName
  hectares: Decimal
}

export interface QuantityPlan {
  /** Null where each place has its own. */
  area: FieldArea | null
  /** The unit of areas that places have themselves. */
  unit: AreaUnitName
  /** The member or column with the areas of points; null where they have none. */
  areasFrom: string | null
  bags: NumbersByName
  currency: string | null
  pricesPerKg: NumbersByName
  pricesPerBag: NumbersByName
  budget: Decimal | null
  producePrice: Decimal | null
  /** Null for equal weights. */
  weights: NumbersByName | null
  nutrients: boolean
}

const NONE: NumbersByName = new Map()
const GRAM = toDecimal(0.001)
const ONE_HECTARE: FieldArea = { value: toDecimal(1), unit: 'ha', hectares: toDecimal(1) }

/** Whether a request asks for quantities. It runs for every request. */
export function asksForQuantities(request: QuantityRequest): boolean {
  return (
    request.area !== undefined ||
    request.bags !== undefined ||
    request.prices !== undefined ||
    request.budget !== undefined ||
    request.produce_price !== undefined ||
    request.scenario_weights !== undefined ||
    (request.nutrients !== undefined && request.nutrients !== false && request.nutrients !== 'false')
  )
}

/** The source of areas: the request alone, also the points of a batch, or the polygons themselves. */
export type AreasOf = 'request' | 'points' | 'polygons'

/** Null for no quantities. @throws {ApiError} INVALID_PARAMETERS, naming the wrong field */
export function readPlan(request: QuantityRequest, areasOf: AreasOf = 'request'): QuantityPlan | null {
  if (!asksForQuantities(request)) return null
  refuseLongTexts(request)
  const area = readAreaField(request.area, areasOf)
  const prices = readPrices(request.prices)
  const produce = readProducePrice(request.produce_price)
  if (request.budget !== undefined && !prices) throw ApiError.invalid('budget', 'needs prices')
  if (prices && produce && prices.currency !== produce.currency) {
    throw ApiError.invalid('produce_price', `must be in the currency of prices, ${prices.currency}`)
  }
  const bags = readBags(request.bags)
  for (const [key, { name }] of prices?.perBag ?? NONE) {
    if (!bags.has(key)) throw ApiError.invalid('bags', `must have ${name}, whose price is per bag`)
  }
  return {
    ...area,
    bags,
    currency: prices?.currency ?? produce?.currency ?? null,
    pricesPerKg: prices?.perKg ?? NONE,
    pricesPerBag: prices?.perBag ?? NONE,
    budget:
      request.budget === undefined
        ? null
        : readNumber('budget', request.budget, { zero: true, maximum: QUANTITY_LIMITS.budget }),
    producePrice: produce?.perKg ?? null,
    weights: readWeights(request.scenario_weights),
    nutrients: readNutrients(request.nutrients),
  }
}

/** The limit of texts in queries: the history stores requests. */
const LONGEST_TEXT = 4000

function refuseLongTexts(request: QuantityRequest): void {
  for (const field of Object.keys(QuantityFields) as (keyof QuantityRequest)[]) {
    const value = request[field]
    if (typeof value === 'string' && value.length > LONGEST_TEXT) {
      throw ApiError.invalid(field, `must be at most ${LONGEST_TEXT} characters long`)
    }
  }
}

/** The area of one place. @throws {ApiError} INVALID_PARAMETERS */
export function readFieldArea(field: string, sent: unknown, unit: AreaUnitName): FieldArea {
  const limit = { zero: false, maximum: 1e12 }
  const value = readNumber(field, sent, limit)
  const size = hectares(times(value, AREA_UNITS[unit]))
  if (compare(size, toDecimal(QUANTITY_LIMITS.hectares)) > 0) {
    throw ApiError.invalid(field, `must be at most ${QUANTITY_LIMITS.hectares} ha`)
  }
  return { value, unit, hectares: size }
}

type AreaField = Pick<QuantityPlan, 'area' | 'unit' | 'areasFrom'>

/** How an area is written in a query: a number and a unit, a unit alone, or where points have their areas. */
const AREA_TEXT = /^\s*(?:(\d+(?:\.\d+)?)\s*|from:(\S+)\s+)?([a-z0-9²]+(?: +[a-z]+)?)?\s*$/i

/** Enough for the longest name and a unit. The time of the match grows with the square of the length. */
const LONGEST_AREA = 150

function readAreaField(sent: QuantityRequest['area'], areasOf: AreasOf): AreaField {
  if (sent === undefined)
    return { area: areasOf === 'polygons' ? null : ONE_HECTARE, unit: 'ha', areasFrom: null }
  const { value, unit, from } = requireMembers('area', areaMembers(sent), ['value', 'unit', 'from'])
  const areaUnit = readUnit(unit)
  if (areasOf === 'polygons') {
    if (value !== undefined || from !== undefined) {
      throw ApiError.invalid('area.value', 'must be left out: a polygon has its own area')
    }
    return { area: null, unit: areaUnit, areasFrom: null }
  }
  if (from === undefined)
    return { area: readFieldArea('area.value', value, areaUnit), unit: areaUnit, areasFrom: null }
  if (areasOf === 'request' || value !== undefined) {
    throw ApiError.invalid(
      'area.from',
      'must be left out: it is for calls with many points, instead of area.value',
    )
  }
  if (typeof from !== 'string' || from === '' || from.length > 100) {
    throw ApiError.invalid('area.from', 'must be the name of a column or a member')
  }
  return { area: null, unit: areaUnit, areasFrom: from }
}

function areaMembers(sent: NonNullable<QuantityRequest['area']>): object {
  if (typeof sent !== 'string') return sent
  if (sent.length > LONGEST_AREA)
    throw ApiError.invalid('area', `must be at most ${LONGEST_AREA} characters long`)
  const [match, value, from, unit] = AREA_TEXT.exec(sent) ?? []
  if (match === undefined)
    throw ApiError.invalid(
      'area',
      `must be a number and a unit, such as 2.5 ha; you sent ${sent.slice(0, LONGEST_NAME)}`,
    )
  return {
    ...(value !== undefined && { value: Number(value) }),
    ...(from !== undefined && { from }),
    ...(unit !== undefined && { unit }),
  }
}

function readUnit(sent: unknown): AreaUnitName {
  if (sent === undefined || sent === null) return 'ha'
  const unit = typeof sent === 'string' ? findAreaUnit(sent) : undefined
  if (unit !== undefined) return unit
  const named = typeof sent === 'string' && sent.length <= LONGEST_NAME ? `; you sent ${sent}` : ''
  const rule = `must be one of ${AREA_UNIT_NAMES.join(', ')}${named}`
  throw ApiError.invalid('area.unit', rule, [...AREA_UNIT_NAMES])
}

function readBags(sent: QuantityRequest['bags']): NumbersByName {
  if (sent === undefined) return NONE
  const numbers =
    typeof sent === 'string' ? combinePairs('bags', readPairs('bags', sent), readKilograms) : sent
  const bags = readNumbersByName('bags', numbers, { zero: false, maximum: QUANTITY_LIMITS.bagKilograms })
  // An area may need more smaller bags than a number counts exactly.
  const small = [...bags.values()].find(({ value }) => compare(value, GRAM) < 0)
  if (small) throw ApiError.invalid(`bags.${small.name}`, 'must be at least 0.001, a gram')
  return bags
}

function readWeights(sent: QuantityRequest['scenario_weights']): NumbersByName | null {
  if (sent === undefined) return null
  const weights =
    typeof sent === 'string' ? combinePairs('scenario_weights', readPairs('scenario_weights', sent)) : sent
  const read = readNumbersByName('scenario_weights', weights, { zero: true, maximum: QUANTITY_LIMITS.weight })
  if ([...read.values()].some(({ value }) => value.digits > 0n)) return read
  throw ApiError.invalid('scenario_weights', 'must have a weight above 0')
}

function readNutrients(sent: QuantityRequest['nutrients']): boolean {
  if (sent === undefined || typeof sent === 'boolean') return sent ?? false
  if (sent === 'true' || sent === 'false') return sent === 'true'
  throw ApiError.invalid('nutrients', 'must be true or false')
}
