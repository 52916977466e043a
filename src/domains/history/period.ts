import { ApiError } from '#src/errors.ts'
import { DAY_MS } from '#src/lib/days.ts'

/** A stretch of time: from `from` on, to before `to`; null for no bound. ISO 8601, to the millisecond. */
export interface Period {
  from: string | null
  to: string | null
}

const END_OF_YEARS = Date.UTC(9999, 11, 31)

/**
 * The time between two parameters, each a date or a date and time: a date begins at midnight UTC, and as
 * the end it means the whole day.
 *
 * @throws {ApiError} INVALID_PARAMETERS where it would end before it begins
 */
export function periodOf(from: string | undefined, to: string | undefined): Period {
  const begin = from === undefined ? null : Date.parse(from)
  const end = to === undefined ? null : Date.parse(to) + (isDate(to) ? DAY_MS : 0)
  if (begin !== null && end !== null && (begin > end || (begin === end && isDate(to)))) {
    throw ApiError.invalid('from', 'must not be later than to')
  }
  return { from: isoTime(begin), to: isoTime(end) }
}

function isDate(text: string | undefined): boolean {
  return text?.length === 10
}

function isoTime(time: number | null): string | null {
  // Nothing was answered before 1970 or after 9999, and the notation of other years is not the same.
  return time === null ? null : new Date(Math.min(Math.max(time, 0), END_OF_YEARS)).toISOString()
}
