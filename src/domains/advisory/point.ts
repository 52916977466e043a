import type { Kysely } from 'kysely'
import type { ForagePointRequest, PointRequest } from '#schemas/advisory.ts'
import { POINT_DEFAULTS } from '#schemas/advisory.ts'
import type { Product } from '#schemas/common.ts'
import type { Tables } from '#src/database/tables.ts'
import {
  findReleaseLabels,
  type LayerLabel,
  type PointQuery,
  type ReleaseLabels,
  valuesAtPoint,
} from './queries.ts'
import { reasonForNoRelease, reasonForNoValue } from './reasons.ts'

/** A layer's value at a point. */
export interface LayerValue {
  layer: LayerLabel
  /** In the layer's unit, rounded to its decimals. */
  value: number
}

export interface PointAdvice {
  release: ReleaseLabels
  /** In the order of the answers, without the layers that have no value there. At least one. */
  values: LayerValue[]
}

/** Answers point requests from the published releases. */
export type PointAdvisor = (query: PointQuery) => Promise<PointAdvice>

/** Labels of so many releases are kept; each is a few hundred bytes. */
const KEPT_RELEASES = 1000

/**
 * Makes the advisor of a database. One query answers a request; the labels of a release, whose content
 * never changes, are asked for once.
 *
 * The advisor throws an {@link ApiError} that says why where it has no value.
 */
export function createPointAdvisor(db: Kysely<Tables>): PointAdvisor {
  const labels = new Map<number, ReleaseLabels>()

  async function labelsOf(releaseId: number): Promise<ReleaseLabels | undefined> {
    const kept = labels.get(releaseId)
    if (kept) return kept
    const found = await findReleaseLabels(db, releaseId)
    if (found) {
      if (labels.size >= KEPT_RELEASES) labels.delete(labels.keys().next().value as number)
      labels.set(releaseId, found)
    }
    return found
  }

  return async function advise(query) {
    const found = await valuesAtPoint(db, query)
    if (!found) throw await reasonForNoRelease(db, query)
    const release = await labelsOf(found.releaseId)
    // Deleted in between: what has taken its place answers.
    if (!release) return advise(query)
    const values = release.layers.flatMap((layer, index) => {
      const value = found.values?.[index]
      return value === null || value === undefined ? [] : [{ layer, value: round(value, layer.decimals) }]
    })
    if (values.length === 0) throw await reasonForNoValue(db, query)
    return { release, values }
  }
}

/** Rounds half away from zero on the exact binary value, as decimal notation does. */
export function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}

/** A request in the catalogue's terms: names without regard to case, defaults filled in. */
export function pointQuery(product: Product, request: PointRequest | ForagePointRequest): PointQuery {
  const { crop = POINT_DEFAULTS.crop, forecast_period } = request as PointRequest
  const seasonal = product !== 'forage'
  return {
    product,
    countryCode: (request.country_code ?? POINT_DEFAULTS.country_code).trim().toLowerCase(),
    cropCode: seasonal ? crop.trim().toLowerCase() : null,
    forecastPeriod: seasonal && forecast_period !== undefined ? `${forecast_period}-01` : null,
    longitude: request.lng,
    latitude: request.lat,
  }
}

const MONTH_AND_YEAR = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** Month and year in English, "July 2026", of an ISO date. */
export function monthAndYear(date: string): string {
  return MONTH_AND_YEAR.format(new Date(`${date}T00:00:00Z`))
}
