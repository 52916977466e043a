import type { FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import { readNumber } from '#src/http/parameters.ts'
import { type Crs, degreesOf, type Rectangle } from './crs.ts'

/** How many features a page has where the request does not say, and at most. */
export const DEFAULT_LIMIT = 100
export const MOST_FEATURES = 1000

/** Pages begin with no later feature. */
const LARGEST_OFFSET = 1_000_000

export type Parameters<Name extends string> = Partial<Record<Name, string>>

/**
 * The parameters of a query. The standards demand that what an operation does not know is refused.
 *
 * @throws {ApiError} INVALID_PARAMETERS where there is another one, or one comes twice
 */
export function parametersOf<const Name extends string>(
  { query }: FastifyRequest,
  names: readonly Name[],
): Parameters<Name> {
  const allowed: readonly string[] = names
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    if (!allowed.includes(name)) {
      const list = allowed.length > 0 ? `takes ${allowed.join(', ')}` : 'takes none'
      throw ApiError.invalid(name, `is no parameter of this path, which ${list}`, [...allowed])
    }
    if (Array.isArray(value)) throw ApiError.invalid(name, 'must be given once')
  }
  return query as Parameters<Name>
}

/** A limit above the greatest is that: the standard refuses none. */
export function limitOf(text: string | undefined): number {
  return Math.min(wholeNumber('limit', text, 1) ?? DEFAULT_LIMIT, MOST_FEATURES)
}

export function offsetOf(text: string | undefined): number {
  return Math.min(wholeNumber('offset', text, 0) ?? 0, LARGEST_OFFSET)
}

function wholeNumber(field: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= least) return number
  throw ApiError.invalid(field, `must be a whole number from ${least} on`)
}

/** The extents of bbox, in a CRS or in degrees: a height is ignored. */
const AXES: Record<number, readonly [number, number, number, number]> = { 4: [0, 1, 2, 3], 6: [0, 1, 3, 4] }

const BBOX_RULE =
  'must be four or six numbers with commas between them, of which the lower corner comes first'

/** The rectangle of a bbox parameter in degrees; null where there is none. */
export function rectangleOf(text: string | undefined, crs: Crs): Rectangle | null {
  if (text === undefined) return null
  const numbers = text.split(',').map((part) => readNumber(part.trim()))
  const axes = AXES[numbers.length]
  if (!axes || numbers.some((number) => typeof number !== 'number')) throw ApiError.invalid('bbox', BBOX_RULE)
  const [a, b, c, d] = axes.map((at) => numbers[at] as number) as [number, number, number, number]
  const rectangle = degreesOf(crs, [a, b, c, d])
  const [west, south, east, north] = rectangle
  if (south > north) throw ApiError.invalid('bbox', BBOX_RULE)
  if (Math.abs(west) > 180 || Math.abs(east) > 180 || Math.abs(south) > 90 || Math.abs(north) > 90) {
    throw ApiError.invalid(
      'bbox',
      'must lie between 180 degrees west and east, and 90 degrees south and north',
    )
  }
  return rectangle
}

/** Degrees by which borders may be off; 0 for as they are. */
export function offsetAllowedBy(text: string | undefined): number {
  if (text === undefined) return 0
  const degrees = readNumber(text)
  if (typeof degrees === 'number' && degrees >= 0) return degrees
  throw ApiError.invalid('max-allowable-offset', 'must be a number of degrees from 0 on')
}

/** A time in milliseconds, from and to; open ends are infinite. */
export type Period = readonly [from: number, to: number]

const DAY = /^\d{4}-\d\d-\d\d$/
const MOMENT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/
const DAY_MS = 86_400_000

/** The period of a datetime parameter: an instant, or an interval that may be open; null where there is none. */
export function periodOf(text: string | undefined): Period | null {
  if (text === undefined) return null
  const [first = '', last = first, ...more] = text.split('/')
  const isInterval = text.includes('/')
  const from = endOf(first, isInterval, Number.NEGATIVE_INFINITY)
  const to = endOf(last, isInterval, Number.POSITIVE_INFINITY)
  if (more.length > 0 || from === undefined || to === undefined || from[0] > to[1]) {
    throw ApiError.invalid(
      'datetime',
      'must be a time such as 2026-07-01T00:00:00Z, a date, or two of them with a slash between, of which one may be ..',
    )
  }
  return [from[0], to[1]]
}

/** From when to when an end of an interval goes; undefined where it is none. */
function endOf(text: string, isInterval: boolean, open: number): Period | undefined {
  if (isInterval && (text === '' || text === '..')) return [open, open]
  if (DAY.test(text)) {
    const day = Date.parse(`${text}T00:00:00Z`)
    return Number.isNaN(day) ? undefined : [day, day + DAY_MS - 1]
  }
  const moment = MOMENT.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(moment) ? undefined : [moment, moment]
}
