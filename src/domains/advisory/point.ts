import type { Kysely } from 'kysely'
import type { ForagePointRequest, PointRequest } from '#schemas/advisory.ts'
import { POINT_DEFAULTS } from '#schemas/advisory.ts'
import type { Product } from '#schemas/common.ts'
import type { Tables } from '#src/database/tables.ts'
import { round } from './products.ts'
import {
  findPublishedRelease,
  findReleaseLabels,
  type PointQuery,
  type Position,
  type ReleaseLabels,
  type Subject,
  valuesAtPoint,
} from './queries.ts'
import { reasonForNoRelease, reasonForNoValue } from './reasons.ts'

/** Values in the order of a release's layers: in their unit, rounded to their decimals, null for none. */
export type LayerValues = (number | null)[]

export interface PointAdvice {
  release: ReleaseLabels
  /** At least one is a number. */
  values: LayerValues
}

export interface ManyPointsAdvice {
  release: ReleaseLabels
  /** One for each point, in their order; null where no layer has a value. */
  values: (LayerValues | null)[]
}

/**
 * Answers point requests from the published releases.
 *
 * `advise` and `adviseMany` throw an {@link ApiError} that says why where nothing is published; `advise`
 * also where the point has no value.
 */
export interface PointAdvisor {
  /** The release that answers for a subject now; undefined where nothing is published for it. */
  releaseOf(subject: Subject): Promise<ReleaseLabels | undefined>
  advise(query: PointQuery): Promise<PointAdvice>
  /** The points of one subject, all answered by the same release. */
  adviseMany(subject: Subject, points: Position[]): Promise<ManyPointsAdvice>
}

/** Labels of so many releases are kept; each is a few hundred bytes. */
const KEPT_RELEASES = 1000

/**
 * Makes the advisor of a database. One query answers a request; the labels of a release, whose content
 * never changes, are asked for once.
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

  async function answer(query: PointQuery): Promise<ManyPointsAdvice> {
    const found = await valuesAtPoint(db, query)
    if (!found) throw await reasonForNoRelease(db, query)
    const release = await labelsOf(found.releaseId)
    // Deleted in between: what has taken its place answers.
    if (!release) return answer(query)
    const values = release.layers.map(({ decimals }, index) => {
      const value = found.values?.[index] ?? null
      return value === null ? null : round(value, decimals)
    })
    return { release, values: [values.some((value) => value !== null) ? values : null] }
  }

  async function releaseOf(subject: Subject): Promise<ReleaseLabels | undefined> {
    const releaseId = await findPublishedRelease(db, subject)
    // Deleted in between: what has taken its place answers.
    return releaseId === undefined ? undefined : ((await labelsOf(releaseId)) ?? releaseOf(subject))
  }

  return {
    releaseOf,
    async advise(query) {
      const { release, values } = await answer(query)
      if (!values[0]) throw await reasonForNoValue(db, query)
      return { release, values: values[0] }
    },
    async adviseMany(subject, points) {
      const answers = await Promise.all(points.map((point) => answer({ ...subject, ...point })))
      return {
        release: (answers[0] as ManyPointsAdvice).release,
        values: answers.flatMap(({ values }) => values),
      }
    },
  }
}

/** A request in the catalogue's terms: names without regard to case, defaults filled in. */
export function pointQuery(product: Product, request: PointRequest | ForagePointRequest): PointQuery {
  return { ...subjectOf(product, request), longitude: request.lng, latitude: request.lat }
}

/** What a request asks for, wherever: names without regard to case, defaults filled in. */
export function subjectOf(
  product: Product,
  request: Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period'>,
): Subject {
  const { crop = POINT_DEFAULTS.crop, country_code = POINT_DEFAULTS.country_code, forecast_period } = request
  const seasonal = product !== 'forage'
  return {
    product,
    countryCode: country_code.trim().toLowerCase(),
    cropCode: seasonal ? crop.trim().toLowerCase() : null,
    forecastPeriod: seasonal && forecast_period !== undefined ? `${forecast_period}-01` : null,
  }
}
