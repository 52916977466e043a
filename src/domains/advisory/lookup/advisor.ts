import type { Config } from '#src/config.ts'
import type { Database } from '#src/database/client.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { Series } from '#src/products/series.ts'
import { CoverageGone, createPixelReader, type StoredPixels } from './pixels.ts'
import { round } from './products.ts'
import type { Position, ReleaseLabels } from './queries.ts'
import { createReasons, type Reasons } from './reasons.ts'
import { createPublished, type PublishedRelease } from './snapshot.ts'

/** Values in the order of a release's layers: in their unit, rounded to their decimals, NaN for none. */
export type LayerValues = number[]

export interface PointAdvice {
  release: ReleaseLabels
  /** At least one is not NaN. */
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
  /** The release that answers for a series now; undefined where nothing is published for it. */
  releaseOf(series: Series): Promise<ReleaseLabels | undefined>
  /** At once, without a promise, where all that it takes is in memory. */
  advise(series: Series, position: Position): PointAdvice | Promise<PointAdvice>
  /** The points of one series, all answered by the same release. */
  adviseMany(series: Series, points: Position[]): Promise<ManyPointsAdvice>
  readonly reasons: Reasons
}

/** A release that is deleted while it is read has been replaced; that this happens so often is a mistake. */
const ATTEMPTS = 5

/** The embedded database answers one query at a time, and for a server's second one there is work to prepare. */
const CONCURRENT_QUERIES = { embedded: 1, server: 2 }

const MEGABYTE = 1_000_000

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
  const reasons = createReasons(reader, published, CONCURRENT_QUERIES[kind])
  let waiting = 0

  function valuesAt(
    release: PublishedRelease,
    position: Position,
  ): LayerValues | null | Promise<LayerValues | null> {
    const pixels: (StoredPixels | Promise<StoredPixels>)[] = []
    let inMemory = true
    for (const coverage of release.coverages) {
      const found = read(coverage, position)
      if (found instanceof Promise) inMemory = false
      pixels.push(found)
    }
    return inMemory
      ? valuesOf(release, pixels as StoredPixels[])
      : Promise.all(pixels).then((found) => valuesOf(release, found))
  }

  /** Looks something up in the release that answers for a series: at once, where all is in memory. */
  function lookUp<Result>(
    series: Series,
    look: (release: PublishedRelease) => Result | Promise<Result>,
    position?: Position,
  ): Result | Promise<Result> {
    if (waiting >= config.DATABASE_QUEUE_LIMIT) throw overloaded()
    const release = published.known()?.releaseOf(series)
    const found = release && look(release)
    return found === undefined || found instanceof Promise ? waitFor(series, look, position, found) : found
  }

  async function waitFor<Result>(
    series: Series,
    look: (release: PublishedRelease) => Result | Promise<Result>,
    position: Position | undefined,
    begun: Result | Promise<Result> | undefined,
  ): Promise<Result> {
    waiting++
    try {
      for (let attempt = 1, found = begun; ; attempt++, found = undefined) {
        try {
          if (found) return await found
          const snapshot = await (attempt === 1 ? published.current() : published.renewed())
          const release = snapshot.releaseOf(series)
          if (!release) throw await reasons.noRelease({ ...series, ...position })
          return await look(release)
        } catch (error) {
          // What has taken the place of the release answers.
          if (!(error instanceof CoverageGone) || attempt === ATTEMPTS) throw error
        }
      }
    } finally {
      waiting--
    }
  }

  return {
    reasons,
    async releaseOf(series) {
      return (await published.current()).releaseOf(series)
    },
    advise: (series, position) =>
      lookUp(
        series,
        (release) => {
          const values = valuesAt(release, position)
          return values instanceof Promise
            ? values.then((found) => adviceOf(series, position, release, found))
            : adviceOf(series, position, release, values)
        },
        position,
      ),
    async adviseMany(series, points) {
      return lookUp(series, (release) => {
        const values = points.map((point) => valuesAt(release, point))
        return values.some((found) => found instanceof Promise)
          ? Promise.all(values).then((found) => ({ release, values: found }))
          : { release, values: values as (LayerValues | null)[] }
      })
    },
  }

  function adviceOf(
    series: Series,
    position: Position,
    release: PublishedRelease,
    values: LayerValues | null,
  ): PointAdvice | Promise<PointAdvice> {
    if (values !== null) return { release, values }
    const reason = reasons.noValue(series, position)
    if (!(reason instanceof Promise)) throw reason
    return reason.then((found) => {
      throw found
    })
  }
}

/** Values from the pixels of a release's coverages. A number that leaves the range of doubles is none. */
function valuesOf({ layers }: PublishedRelease, pixels: StoredPixels[]): LayerValues | null {
  const values: LayerValues = []
  let any = false
  for (const { coverage, band, scale, offset, decimals } of layers) {
    const value = (pixels[coverage]?.[band - 1] ?? Number.NaN) * scale + offset
    const known = Number.isFinite(value)
    any ||= known
    values.push(known ? round(value, decimals) : Number.NaN)
  }
  return any ? values : null
}
