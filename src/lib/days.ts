export const DAY_MS = 86_400_000

/** The day of a time (milliseconds since 1970) in UTC, as an ISO date. */
export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
