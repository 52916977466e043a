import type { ForagePointRequest, PointRequest } from '#schemas/advisory.ts'
import { POINT_DEFAULTS } from '#schemas/advisory.ts'
import type { Product } from '#schemas/common.ts'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/database/client.ts'
import { isDatabaseUnavailable } from '#src/database/failures.ts'
import { overloaded } from '#src/plugins/overload.ts'
import { createCoalescer } from './coalescer.ts'
import { CoverageGone, createPixelReader, type StoredPixels } from './pixel-reader.ts'
import { round } from './products.ts'
import { createPublished, type Picture, type PublishedRelease } from './published.ts'
import type { PointQuery, Position, ReleaseLabels, Subject } from './queries.ts'
import { reasonForNoRelease, reasonsForNoValue } from './reasons.ts'

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

/** A release that is deleted while it is read has been replaced; that this happens so often is a mistake. */
const ATTEMPTS = 5

/** The embedded database answers one query at a time, and for a server's second one there is work to prepare. */
const CONCURRENT_QUERIES = { embedded: 1, server: 2 }

/** Points a query: finding their countries takes some tens of microseconds each. */
const REASONS_PER_QUERY = 200

const MEGABYTE = 1024 * 1024

/**
 * Makes the advisor of a database, with a cache of its own: one is enough for all who ask. What is
 * published is known from memory, and so are the tiles, as far as TILE_CACHE_MB goes; what is not is asked
 * for by all requests together.
 *
 * Requests are refused (OVERLOADED) while DATABASE_QUEUE_LIMIT others wait for an answer.
 */
export function createPointAdvisor({ kind, reader }: Database, config: Config): PointAdvisor {
  const published = createPublished(reader, config.RELEASE_MAX_AGE_MS)
  const read = createPixelReader(reader, {
    cacheBytes: config.TILE_CACHE_MB * MEGABYTE,
    concurrency: CONCURRENT_QUERIES[kind],
  })
  const reasonForNoValue = createCoalescer({
    run: (queries: PointQuery[]) => reasonsForNoValue(reader, queries),
    concurrency: 1,
    batch: REASONS_PER_QUERY,
    failsAll: isDatabaseUnavailable,
  })
  let waiting = 0

  function valuesAt(
    release: PublishedRelease,
    position: Position,
  ): LayerValues | null | Promise<LayerValues | null> {
    const pixels = release.coverages.map((coverage) => read(coverage, position))
    return pixels.some((found) => found instanceof Promise)
      ? Promise.all(pixels).then((found) => valuesOf(release, found))
      : valuesOf(release, pixels as StoredPixels[])
  }

  /** Looks something up in the release that answers for a subject: at once, where all is in memory. */
  function lookUp<Result>(
    subject: Subject | PointQuery,
    look: (release: PublishedRelease) => Result | Promise<Result>,
  ): Result | Promise<Result> {
    if (waiting >= config.DATABASE_QUEUE_LIMIT) throw overloaded()
    const release = published.known()?.releaseOf(subject)
    const found = release && look(release)
    return found === undefined || found instanceof Promise ? waitFor(subject, look, found) : found
  }

  async function waitFor<Result>(
    subject: Subject | PointQuery,
    look: (release: PublishedRelease) => Result | Promise<Result>,
    begun: Result | Promise<Result> | undefined,
  ): Promise<Result> {
    waiting++
    try {
      for (let attempt = 1, found = begun; ; attempt++, found = undefined) {
        try {
          if (found) return await found
          const picture = await (attempt === 1 ? published.current() : published.renewed())
          return await lookIn(picture, subject, look)
        } catch (error) {
          // What has taken the place of the release answers.
          if (!(error instanceof CoverageGone) || attempt === ATTEMPTS) throw error
        }
      }
    } finally {
      waiting--
    }
  }

  async function lookIn<Result>(
    picture: Picture,
    subject: Subject | PointQuery,
    look: (release: PublishedRelease) => Result | Promise<Result>,
  ): Promise<Result> {
    const release = picture.releaseOf(subject)
    if (!release) throw await reasonForNoRelease(reader, subject)
    return look(release)
  }

  return {
    async releaseOf(subject) {
      return (await published.current()).releaseOf(subject)
    },
    async advise(query) {
      return lookUp(query, (release) => {
        const values = valuesAt(release, query)
        if (values instanceof Promise) return values.then((found) => adviceOf(query, release, found))
        return adviceOf(query, release, values)
      })
    },
    async adviseMany(subject, points) {
      return lookUp(subject, (release) => {
        const values = points.map((point) => valuesAt(release, point))
        return values.some((found) => found instanceof Promise)
          ? Promise.all(values).then((found) => ({ release, values: found }))
          : { release, values: values as (LayerValues | null)[] }
      })
    },
  }

  function adviceOf(
    query: PointQuery,
    release: PublishedRelease,
    values: LayerValues | null,
  ): PointAdvice | Promise<PointAdvice> {
    if (values !== null) return { release, values }
    return reasonForNoValue(query).then((reason) => {
      throw reason
    })
  }
}

/** Values from the pixels of a release's coverages. A number that leaves the range of doubles is none. */
function valuesOf(release: PublishedRelease, pixels: StoredPixels[]): LayerValues | null {
  let any = false
  const values = release.layers.map(({ coverage, band, scale, offset, decimals }) => {
    const pixel = pixels[coverage]?.[band - 1] ?? null
    if (pixel === null) return null
    const value = pixel * scale + offset
    if (!Number.isFinite(value)) return null
    any = true
    return round(value, decimals)
  })
  return any ? values : null
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
