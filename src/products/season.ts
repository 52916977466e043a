/** What tells until when a release is of use. Dates are ISO dates. */
export interface Validity {
  forecastPeriod: string | null
  synthetic: boolean
  /** The last day of its season, where its manifest says so. */
  validUntil: string | null
}

/** A season is over a year after its month, whatever grows. */
const MONTHS = 12

/** The last day (UTC) on which a release is of its season; null for what has none, and for synthetic values. */
export function lastDayOf({ forecastPeriod, synthetic, validUntil }: Validity): string | null {
  if (synthetic) return null
  if (validUntil !== null || forecastPeriod === null) return validUntil
  const [year, month] = forecastPeriod.split('-').map(Number) as [number, number]
  // Day 0 of a month is the last one of the month before.
  return dayOf(Date.UTC(year, month + MONTHS, 0))
}

/** Whether the season of a release is over. */
export function isStale(release: Validity, now: number): boolean {
  const last = lastDayOf(release)
  return last !== null && dayOf(now) > last
}

/** When a release becomes stale; infinite for what never does, and for what has. */
export function becomesStaleAt(release: Validity, now: number): number {
  const last = lastDayOf(release)
  if (last === null || isStale(release, now)) return Number.POSITIVE_INFINITY
  return Date.parse(`${last}T24:00:00Z`)
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
