import type { ErrorDetail } from '#schemas/common.ts'
import { QUANTITY_LIMITS } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import { isObject } from '#src/lib/collections.ts'
import { compare, type Decimal, toDecimal } from '#src/lib/decimal.ts'

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

/** Whether a decimal is above a limit. */
export function isAbove(value: Decimal, limit: number): boolean {
  return compare(value, toDecimal(limit)) > 0
}

/** Reads numbers by names. @throws {ApiError} INVALID_PARAMETERS, naming the wrong one */
export function readNumbersByName(field: string, sent: unknown, bounds: Bounds): NumbersByName {
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
export function readPairs(field: string, text: string): [name: string, value: string][] {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  if (pairs.length > MOST_NAMES) throw ApiError.invalid(field, `must have at most ${MOST_NAMES} names`)
  return pairs.map((pair) => {
    const colon = pair.lastIndexOf(':')
    if (colon === -1) throw ApiError.invalid(field, 'must be names and numbers such as Urea:50,DAP:50')
    return [pair.slice(0, colon).trim(), pair.slice(colon + 1).trim()]
  })
}

/** @throws {ApiError} INVALID_PARAMETERS for a repeated name */
export function combinePairs(
  field: string,
  pairs: [string, string][],
  read = numberIn,
): Record<string, number | string> {
  const twice = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) !== index)
  if (twice) throw ApiError.invalid(field, `must name ${twice[0]} once`)
  return Object.fromEntries(pairs.map(([name, value]) => [name, read(value)]))
}

/** Reads a currency code. @throws {ApiError} INVALID_PARAMETERS */
export function readCurrency(field: string, sent: unknown): string {
  if (typeof sent === 'string' && /^[A-Z]{3}$/.test(sent)) return sent
  throw ApiError.invalid(field, 'must be the code of a currency (ISO 4217), such as ETB')
}

/** Splits a text that begins with a currency: `ETB 38.5`. @throws {ApiError} INVALID_PARAMETERS */
export function splitCurrency(field: string, text: string): { currency: string; rest: string } {
  const [, currency, rest = ''] = /^\s*([^\s]+)\s+(.*)$/s.exec(text) ?? []
  if (currency === undefined) throw ApiError.invalid(field, 'must begin with a currency, such as ETB')
  return { currency: readCurrency(field, currency), rest }
}

/** Refuses members of an object beside these. @throws {ApiError} INVALID_PARAMETERS */
export function requireMembers(
  field: string,
  sent: object,
  names: readonly string[],
): Record<string, unknown> {
  const unknown = Object.keys(sent).find((name) => !names.includes(name))
  if (unknown === undefined) return sent as Record<string, unknown>
  const message = `${field}.${unknown} must be left out: ${field} has ${names.join(', ')}`
  const detail: ErrorDetail = { field: `${field}.${unknown}`, message, allowed: [...names] }
  throw new ApiError('INVALID_PARAMETERS', `${message}.`, [detail])
}
