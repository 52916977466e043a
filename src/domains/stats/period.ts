import { STATS_DAYS } from '#schemas/stats.ts'
import { ApiError } from '#src/errors.ts'
import { DAY_MS, dayOf } from '#src/lib/days.ts'

/** The first day that the database can write as the API does: years before it are counted backwards. */
const FIRST_DAY = dayNumber('0001-01-01')

/** Days as ISO dates (UTC), both included. */
export interface Days {
  from: string
  to: string
}

/**
 * The days between two parameters: up to today, and 30 of them, where nothing else is said.
 *
 * @throws {ApiError} INVALID_PARAMETERS where the first comes after the last, or there are too many
 */
export function daysBetween(from: string | undefined, to: string | undefined): Days {
  const last = to === undefined ? Math.floor(Date.now() / DAY_MS) : dayNumber(to)
  const first = from === undefined ? Math.max(FIRST_DAY, last - STATS_DAYS.default + 1) : dayNumber(from)
  if (first > last) throw ApiError.invalid('from', 'must not be later than to')
  if (last - first >= STATS_DAYS.most)
    throw ApiError.invalid('from', `must be less than ${STATS_DAYS.most} days before to`)
  return { from: dayOf(first * DAY_MS), to: dayOf(last * DAY_MS) }
}

/** Every day, in order. */
export function daysOf({ from, to }: Days): string[] {
  const first = dayNumber(from)
  return Array.from({ length: dayNumber(to) - first + 1 }, (_, index) => dayOf((first + index) * DAY_MS))
}

/** Days since 1970. */
function dayNumber(day: string): number {
  return Date.parse(day) / DAY_MS
}
