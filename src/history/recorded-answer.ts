import type { HistoryItem } from '#schemas/history.ts'
import type { PolygonRequest } from '#schemas/polygon.ts'
import { isoMonthNamed } from '#src/lib/dates.ts'
import type { HistoryRow } from './queries.ts'

/** The members of an answer, or of the section of a product, about its release. Older answers lack some. */
export interface ReleaseSection {
  forecast_period?: string
  forecast_month?: string
  release?: string
  synthetic?: boolean
}

export interface RecordedAnswer extends ReleaseSection {
  location: HistoryItem['location']
}

export function readMonth({ forecast_month, forecast_period }: ReleaseSection): string | undefined {
  return forecast_month ?? (forecast_period === undefined ? undefined : isoMonthNamed(forecast_period))
}

/** Whether a release of the answer is demonstration data; undefined where unknown. */
export function isSynthetic(
  { synthetic, release }: ReleaseSection,
  { releases, synthetic_by_release }: HistoryRow,
): boolean | undefined {
  if (synthetic !== undefined) return synthetic
  const known = (release === undefined ? releases : [release]).map((code) => synthetic_by_release[code])
  if (known.includes(true)) return true
  return known.includes(undefined) ? undefined : false
}

/** Null for unknown members. */
export interface RecordedArea {
  code: string
  level: number | null
  name: string | null
}

/** The area of a request; undefined for points and polygons. */
export function readRecordedArea({ request, answer }: HistoryRow): RecordedArea | undefined {
  const { location } = answer as RecordedAnswer
  if (location.admin) return location.admin
  const { admin, name } = request as PolygonRequest
  // Older answers do not say which area they are of, but what they were asked, and its name where no label was.
  return (
    admin && {
      code: admin.code.trim(),
      level: admin.level ?? null,
      name: name === undefined ? location.name : null,
    }
  )
}
