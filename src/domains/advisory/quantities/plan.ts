import {
  AREA_UNIT_NAMES,
  QUANTITY_LIMITS,
  QuantityFields,
  type QuantityRequest,
} from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import { compare, type Decimal, decimalOf, times } from '#src/lib/decimal.ts'
import { readPrices, readProducePrice } from './prices.ts'
import {
  isAbove,
  membersOf,
  type NumbersByName,
  objectOfPairs,
  pairsIn,
  readNumberOf,
  readNumbersByName,
} from './reading.ts'
import { AREA_UNITS, areaUnitNamed, hectares, kilogramsIn } from './units.ts'

/** An area as it was told. */
export interface Area {
  value: Decimal
  unit: string
  hectares: Decimal
}

/** How quantities are to be told, as a request says it. */
export interface QuantityPlan {
  /** Null where each place has its own. */
  area: Area | null
  /** The unit of areas that places have themselves. */
  unit: string
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
const GRAM = decimalOf(0.001)
const ONE_HECTARE: Area = { value: decimalOf(1), unit: 'ha', hectares: decimalOf(1) }

/** Whether a request asks for quantities. It is asked of every call. */
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

/** Where the areas of a call's places come from: the request alone, the points of a batch too, or the places themselves. */
export type AreasOf = 'request' | 'points' | 'polygons'

/**
 * What a request says of quantities; null where it asks for none.
 *
 * @throws {ApiError} INVALID_PARAMETERS, naming what is wrong
 */
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
        : readNumberOf('budget', request.budget, { zero: true, maximum: QUANTITY_LIMITS.budget }),
    producePrice: produce?.perKg ?? null,
    weights: readWeights(request.scenario_weights),
    nutrients: readNutrients(request.nutrients),
  }
}

/** As long as a text of a query may be: the history keeps what was asked. */
const LONGEST_TEXT = 4000

function refuseLongTexts(request: QuantityRequest): void {
  for (const field of Object.keys(QuantityFields) as (keyof QuantityRequest)[]) {
    const value = request[field]
    if (typeof value === 'string' && value.length > LONGEST_TEXT) {
      throw ApiError.invalid(field, `must be at most ${LONGEST_TEXT} characters long`)
    }
  }
}

/**
 * The area of one place.
 *
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function readArea(field: string, sent: unknown, unit: string): Area {
  const limit = { zero: false, maximum: 1e12 }
  const value = readNumberOf(field, sent, limit)
  const size = hectares(times(value, (AREA_UNITS[unit] as { squareMetres: Decimal }).squareMetres))
  if (isAbove(size, QUANTITY_LIMITS.hectares)) {
    throw ApiError.invalid(field, `must be at most ${QUANTITY_LIMITS.hectares} ha`)
  }
  return { value, unit, hectares: size }
}

type AreaField = Pick<QuantityPlan, 'area' | 'unit' | 'areasFrom'>

/** How an area is written in a query: a number and a unit, a unit alone, or where points have their areas. */
const AREA_TEXT = /^\s*(?:(\d+(?:\.\d+)?)\s*|from:(\S+)\s+)?([a-z0-9²]+(?: +[a-z]+)?)?\s*$/i

/** Enough for the longest name and a unit. The time to match a text grows with the square of its length. */
const LONGEST_AREA = 150

function readAreaField(sent: QuantityRequest['area'], areasOf: AreasOf): AreaField {
  if (sent === undefined)
    return { area: areasOf === 'polygons' ? null : ONE_HECTARE, unit: 'ha', areasFrom: null }
  const { value, unit, from } = membersOf('area', areaMembers(sent), ['value', 'unit', 'from'])
  const known = readUnit(unit)
  if (areasOf === 'polygons') {
    if (value !== undefined || from !== undefined) {
      throw ApiError.invalid('area.value', 'must be left out: a polygon has its own area')
    }
    return { area: null, unit: known, areasFrom: null }
  }
  if (from === undefined) return { area: readArea('area.value', value, known), unit: known, areasFrom: null }
  if (areasOf === 'request' || value !== undefined) {
    throw ApiError.invalid(
      'area.from',
      'must be left out: it is for calls with many points, instead of area.value',
    )
  }
  if (typeof from !== 'string' || from === '' || from.length > 100) {
    throw ApiError.invalid('area.from', 'must be the name of a column or a member')
  }
  return { area: null, unit: known, areasFrom: from }
}

function areaMembers(sent: NonNullable<QuantityRequest['area']>): object {
  if (typeof sent !== 'string') return sent
  if (sent.length > LONGEST_AREA)
    throw ApiError.invalid('area', `must be at most ${LONGEST_AREA} characters long`)
  const [match, value, from, unit] = AREA_TEXT.exec(sent) ?? []
  if (match === undefined) throw ApiError.invalid('area', 'must be a number and a unit, such as 2.5 ha')
  return {
    ...(value !== undefined && { value: Number(value) }),
    ...(from !== undefined && { from }),
    ...(unit !== undefined && { unit }),
  }
}

function readUnit(sent: unknown): string {
  if (sent === undefined || sent === null) return 'ha'
  const unit = typeof sent === 'string' ? areaUnitNamed(sent) : undefined
  if (unit !== undefined) return unit
  throw ApiError.invalid('area.unit', `must be one of ${AREA_UNIT_NAMES.join(', ')}`, [...AREA_UNIT_NAMES])
}

function readBags(sent: QuantityRequest['bags']): NumbersByName {
  if (sent === undefined) return NONE
  const numbers = typeof sent === 'string' ? objectOfPairs('bags', pairsIn('bags', sent), kilogramsIn) : sent
  const bags = readNumbersByName('bags', numbers, { zero: false, maximum: QUANTITY_LIMITS.bagKilograms })
  // Of smaller ones an area may take more than a number counts exactly.
  const small = [...bags.values()].find(({ value }) => compare(value, GRAM) < 0)
  if (small) throw ApiError.invalid(`bags.${small.name}`, 'must be at least 0.001, a gram')
  return bags
}

function readWeights(sent: QuantityRequest['scenario_weights']): NumbersByName | null {
  if (sent === undefined) return null
  const weights =
    typeof sent === 'string' ? objectOfPairs('scenario_weights', pairsIn('scenario_weights', sent)) : sent
  const read = readNumbersByName('scenario_weights', weights, { zero: true, maximum: QUANTITY_LIMITS.weight })
  if ([...read.values()].some(({ value }) => value.digits > 0n)) return read
  throw ApiError.invalid('scenario_weights', 'must have a weight above 0')
}

function readNutrients(sent: QuantityRequest['nutrients']): boolean {
  if (sent === undefined || typeof sent === 'boolean') return sent ?? false
  if (sent === 'true' || sent === 'false') return sent === 'true'
  throw ApiError.invalid('nutrients', 'must be true or false')
}
