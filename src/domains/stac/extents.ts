import { roundDegrees } from '#src/lib/round.ts'
import type { Extent } from '#src/raster/grid.ts'

/** West, south, east and north. */
export type Bbox = [number, number, number, number]

/** The rectangle that some lie in, in decimal degrees as all answers have them. */
export function bboxOf(extents: readonly Extent[]): Bbox {
  return [
    Math.min(...extents.map(({ west }) => west)),
    Math.min(...extents.map(({ south }) => south)),
    Math.max(...extents.map(({ east }) => east)),
    Math.max(...extents.map(({ north }) => north)),
  ].map(roundDegrees) as Bbox
}

/** A rectangle as a polygon, counterclockwise. */
export function polygonOf([west, south, east, north]: Bbox) {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon' as const, coordinates: [ring] }
}

/** What tells when a release is of use. ISO dates. */
interface Season {
  forecastPeriod: string | null
  validUntil: string | null
  created: string
}

/** From when to when a release is of use: its season, as far as that is known; when it was loaded, where it has none. */
export function periodOf({ forecastPeriod, validUntil, created }: Season): [start: string, end: string] {
  if (forecastPeriod === null) return [created, created]
  const [year, month] = forecastPeriod.split('-').map(Number) as [number, number]
  // Day 0 of a month is the last one of the month before.
  const last = validUntil ?? new Date(Date.UTC(year, month, 0)).toISOString()
  return [`${forecastPeriod.slice(0, 10)}T00:00:00.000Z`, `${last.slice(0, 10)}T23:59:59.000Z`]
}
