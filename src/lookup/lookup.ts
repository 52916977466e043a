import type { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { type ClientKey, createLimiter, EVERYBODY, type Limiter } from '#src/lib/limiter.ts'
import { fillMissing } from '#src/lib/promises.ts'
import { type Pauses, retry } from '#src/lib/retry.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import { createAreaFinder } from './areas.ts'
import { createPixelReader, type PixelReader } from './pixels.ts'
import { createRequestLocator } from './places.ts'
import type { Position } from './queries.ts'
import { createReasons } from './reasons.ts'
import {
  assembleValues,
  isReplaced,
  type LayerValues,
  type PublishedRelease,
  type RequestedSeries,
  refuseIfReplaced,
  type StoredPixels,
} from './releases.ts'
import {
  createPinnedReleases,
  createSnapshots,
  type PinnedRelease,
  type PinnedReleases,
  type Snapshot,
  type Snapshots,
} from './snapshot.ts'

type WorkInSnapshot<Result> = (snapshot: Snapshot) => Promise<Result>

/** @param release undefined where none is published for the series */
export type WorkInRelease<Result> = (
  snapshot: Snapshot,
  release: PublishedRelease | undefined,
) => Promise<Result>

/** New attempts after replacements in a row, as only a large import causes. */
const REPLACEMENTS: Pauses = [0, 0, 0, 0]

/** Decides which release answers: the one that a request names, or else the published one of its series. */
function createAnswering(snapshots: Snapshots, pinned: PinnedReleases, limiter: Limiter) {
  /** Does work in a snapshot; where a release in it is replaced meanwhile, anew in another one. */
  function inSnapshot<Result>(work: WorkInSnapshot<Result>, wait: Wait = (step) => step()): Promise<Result> {
    let find: () => Promise<Snapshot> = snapshots.current
    const attempt = async () => {
      const snapshot = await wait(find)
      find = snapshots.renewed
      return work(snapshot)
    }
    return refuseIfReplaced(() => retry(attempt, REPLACEMENTS, isReplaced))
  }

  /** A named release that is gone or elsewhere is loaded again, which gives the reason. */
  function inNamed<Result>(code: string, work: WorkInRelease<Result>, wait: Wait | undefined) {
    return inSnapshot(async (snapshot) => {
      const find = () => pinned.find(snapshot, code)
      const { release } = await (wait ? wait(find) : find())
      try {
        return await work(snapshot, release)
      } catch (error) {
        if (isReplaced(error)) pinned.forget(code)
        throw error
      }
    }, wait)
  }

  /**
   * Does work in the release of a series: the one place that decides which that is. Where it is replaced meanwhile, the
   * work begins anew in its successor.
   *
   * @throws {ApiError} OVERLOADED after several replacements; the errors of `releaseOf`
   */
  const inRelease = <Result>(
    series: RequestedSeries,
    work: WorkInRelease<Result>,
    wait?: Wait,
  ): Promise<Result> =>
    series.release === undefined
      ? inSnapshot((snapshot) => work(snapshot, snapshot.releaseOf(series)), wait)
      : inNamed(series.release, work, wait)

  return {
    inSnapshot,
    /**
     * Undefined where none is published for the series.
     *
     * @throws {ApiError} NOT_FOUND or RELEASE_GONE for a named release
     */
    async releaseOf(series: RequestedSeries): Promise<PublishedRelease | undefined> {
      const snapshot = await snapshots.current()
      if (series.release === undefined) return snapshot.releaseOf(series)
      return (await pinned.find(snapshot, series.release)).release
    },
    inRelease,
    /**
     * `inRelease` for work of batchers.
     *
     * @throws {ApiError} OVERLOADED beyond DATABASE_QUEUE_LIMIT, half of which a network has at most
     */
    inReleaseQueued: <Result>(
      series: RequestedSeries,
      clientKey: ClientKey,
      work: WorkInRelease<Result>,
      wait?: Wait,
    ): Promise<Result> => limiter.run(clientKey, () => inRelease(series, work, wait)),
    /** The same for several series. */
    inSnapshotQueued: <Result>(clientKey: ClientKey, work: WorkInSnapshot<Result>): Promise<Result> =>
      limiter.run(clientKey, () => inSnapshot(work)),
  }
}

/** Reads values of releases in memory, or through batchers. */
function createValueReader(readerOf: (release: PublishedRelease) => PixelReader) {
  const storedAt = (release: PublishedRelease, position: Position): Promise<StoredPixels[]> =>
    Promise.all(release.coverages.map((coverage) => readerOf(release).read(coverage, position)))

  const valuesOfPoint = async (release: PublishedRelease, position: Position) =>
    assembleValues(release.layers, await storedAt(release, position))

  const valuesFromMemory = (release: PublishedRelease, position: Position) =>
    valuesInMemory(readerOf(release), release, position)

  return {
    /**
     * The stored pixel of each grid.
     *
     * @throws {ReplacedMeanwhile} where the release was deleted
     */
    storedAt,
    valuesOfPoint,
    /** Hit path; null without any value, undefined for a miss. */
    valuesFromMemory,
    /**
     * Values in the order of the positions; null without any. For work in `inRelease`.
     *
     * @throws {ReplacedMeanwhile} where the release was deleted
     */
    valuesAt: (release: PublishedRelease, positions: Position[]): Promise<(LayerValues | null)[]> =>
      fillMissing(
        positions.map((position) => valuesFromMemory(release, position)),
        (index) => valuesOfPoint(release, positions[index] as Position),
      ),
  }
}

export interface PointAdvice {
  release: PublishedRelease
  /** At least one is not NaN. */
  values: LayerValues
}

/** Values, or the reason for none. */
export type PointOutcome = PointAdvice | ApiError

export type Lookup = ReturnType<typeof createLookup>

/** The embedded database runs one query at a time; a server's second one is prepared meanwhile. */
const CONCURRENT_QUERIES = { embedded: 1, server: 2 }

const MEGABYTE = 1_000_000

/** Tiles of unpublished releases have a small cache of their own: they evict no tile of a published one. */
const ARCHIVE_MB = 4

type LookupSources = Pick<App, 'database' | 'tiles' | 'config' | 'products'>

/**
 * Looks up values of published releases; one look-up, with its caches, serves all requests. A point has two paths: the hit
 * path in memory, which never waits, and the miss path through batchers and the database.
 */
export function createLookup({ database, tiles, config, products }: LookupSources) {
  const { kind, reader } = database
  const concurrency = CONCURRENT_QUERIES[kind]
  const cacheBytes = config.TILE_CACHE_MB * MEGABYTE
  const pixels = createPixelReader(database, tiles, { cacheBytes, concurrency })
  const archiveBytes = Math.min(cacheBytes, ARCHIVE_MB * MEGABYTE)
  const archive = createPixelReader(database, tiles, { cacheBytes: archiveBytes, concurrency: 1 })
  const readerOf = (release: PublishedRelease) => (release.archived ? archive : pixels)
  const snapshots = createSnapshots(database, products, config.RELEASE_MAX_AGE_MS)
  const areas = createAreaFinder(reader, concurrency)
  const reasons = createReasons(areas, products)
  const most = config.DATABASE_QUEUE_LIMIT
  const limits = { running: most, runningEachNetwork: Math.ceil(most / 2), waiting: 0 }
  const limiter = createLimiter(limits, overloaded)
  const pinned = createPinnedReleases(reader, products, config.RELEASE_MAX_AGE_MS)
  const answering = createAnswering(snapshots, pinned, limiter)

  const { valuesOfPoint, ...values } = createValueReader(readerOf)

  return {
    reasons,
    areas,
    places: createRequestLocator(snapshots, areas),
    known: snapshots.known,
    current: snapshots.current,
    ...answering,
    ...values,
    async publishedRelease(code: string): Promise<PublishedRelease | undefined> {
      return (await snapshots.current()).published.find((release) => release.code === code)
    },
    /**
     * The release with a code, published or not.
     *
     * @throws {ApiError} NOT_FOUND, or RELEASE_GONE where it was deleted
     */
    namedRelease: async (code: string): Promise<PinnedRelease> =>
      pinned.find(await snapshots.current(), code),
    /** Hit path; undefined for a miss. */
    adviseFromMemory(series: RequestedSeries, position: Position): PointOutcome | undefined {
      if (series.release !== undefined) return undefined
      const snapshot = snapshots.known()
      const release = snapshot?.releaseOf(series)
      if (!snapshot || !release) return undefined
      const found = values.valuesFromMemory(release, position)
      if (found === undefined) return undefined
      return found ? { release, values: found } : reasons.noValueFromMemory(snapshot, series, position)
    },
    /**
     * Both paths.
     *
     * @throws {ApiError} OVERLOADED where too many wait
     */
    advise: (series: RequestedSeries, position: Position, clientKey = EVERYBODY): Promise<PointOutcome> =>
      answering.inReleaseQueued(series, clientKey, async (snapshot, release) => {
        if (!release) return reasons.noRelease(snapshot, { ...series, ...position }, 'point')
        const found = await valuesOfPoint(release, position)
        return found ? { release, values: found } : reasons.noValue(snapshot, series, position, 'point')
      }),
    state: () => ({
      ...pixels.state(),
      snapshot: snapshots.state(),
      areas: areas.state(),
      /** Points and batches in the miss path. */
      queue: limiter.state(),
    }),
  }
}

function valuesInMemory(
  pixels: PixelReader,
  release: PublishedRelease,
  position: Position,
): LayerValues | null | undefined {
  const found: StoredPixels[] = []
  for (const coverage of release.coverages) {
    const stored = pixels.fromMemory(coverage, position)
    if (stored === undefined) return undefined
    found.push(stored)
  }
  return assembleValues(release.layers, found)
}
