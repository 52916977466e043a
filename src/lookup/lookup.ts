import type { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import {
  type ClientKey,
  createFairRoom,
  EVERYBODY,
  type FairRoom,
  type QueueState,
} from '#src/lib/fair-queue.ts'
import { completed } from '#src/lib/promises.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Pause } from '#src/lib/turns.ts'
import {
  type AreaFinder,
  type AreaFinderState,
  createAreaFinder,
  createOutlineStore,
  type OutlineStore,
  type OutlineStoreState,
} from './areas.ts'
import { createPinnedReleases, type PinnedRelease, type PinnedReleases } from './pinned.ts'
import { createPixelReader, type PixelReader, type PixelReaderState } from './pixels.ts'
import { createPlaces, type Places } from './places.ts'
import type { Position, TileUse } from './queries.ts'
import { createReasons, type Reasons } from './reasons.ts'
import {
  type LayerValues,
  type PublishedRelease,
  ReplacedMeanwhile,
  type RequestedSeries,
  type StoredPixels,
  valuesOf,
} from './releases.ts'
import { createSnapshots, type Snapshot, type SnapshotState, type Snapshots } from './snapshot.ts'
import { createWarmUp } from './warm-up.ts'

type WorkInSnapshot<Result> = (snapshot: Snapshot) => Promise<Result>

/** @param release undefined where none is published for the series */
export type WorkInRelease<Result> = (
  snapshot: Snapshot,
  release: PublishedRelease | undefined,
) => Promise<Result>

/** Decides which release answers: the one that a request names, or else the published one of its series. */
interface Answering {
  /**
   * Undefined where none is published for the series.
   *
   * @throws {ApiError} NOT_FOUND or RELEASE_GONE for a named release
   */
  releaseOf(series: RequestedSeries): Promise<PublishedRelease | undefined>
  /**
   * Does work in the release of a series: the one place that decides which that is. Where it is replaced meanwhile, the
   * work begins anew in its successor.
   *
   * @throws {ApiError} OVERLOADED after several replacements; the errors of `releaseOf`
   */
  inRelease<Result>(series: RequestedSeries, work: WorkInRelease<Result>, wait?: Wait): Promise<Result>
  /**
   * The same for work of batchers.
   *
   * @throws {ApiError} OVERLOADED beyond DATABASE_QUEUE_LIMIT, to the client with most work
   */
  inReleaseQueued<Result>(
    series: RequestedSeries,
    clientKey: ClientKey,
    work: WorkInRelease<Result>,
    wait?: Wait,
  ): Promise<Result>
  /** The same for several series. */
  inSnapshotQueued<Result>(clientKey: ClientKey, work: WorkInSnapshot<Result>): Promise<Result>
}

/** Replacements in a row, as only a large import causes. */
const ATTEMPTS = 5

function createAnswering(snapshots: Snapshots, pinned: PinnedReleases, limiter: FairRoom): Answering {
  async function inSnapshot<Result>(
    work: WorkInSnapshot<Result>,
    wait: Wait = (step) => step(),
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const snapshot = await wait(attempt === 1 ? snapshots.current : snapshots.renewed)
      try {
        return await work(snapshot)
      } catch (error) {
        if (!(error instanceof ReplacedMeanwhile)) throw error
        if (attempt === ATTEMPTS) throw overloaded()
      }
    }
  }

  /** A named release that is gone or elsewhere is loaded again, which gives the reason. */
  function inNamed<Result>(code: string, work: WorkInRelease<Result>, wait: Wait | undefined) {
    return inSnapshot(async (snapshot) => {
      const find = () => pinned.find(snapshot, code)
      const { release } = await (wait ? wait(find) : find())
      try {
        return await work(snapshot, release)
      } catch (error) {
        if (error instanceof ReplacedMeanwhile) pinned.forget(code)
        throw error
      }
    }, wait)
  }

  const inRelease: Answering['inRelease'] = (series, work, wait) =>
    series.release === undefined
      ? inSnapshot((snapshot) => work(snapshot, snapshot.releaseOf(series)), wait)
      : inNamed(series.release, work, wait)

  return {
    async releaseOf(series) {
      const snapshot = await snapshots.current()
      if (series.release === undefined) return snapshot.releaseOf(series)
      return (await pinned.find(snapshot, series.release)).release
    },
    inRelease,
    inReleaseQueued: (series, clientKey, work, wait) =>
      limiter.run(clientKey, () => inRelease(series, work, wait)),
    inSnapshotQueued: (clientKey, work) => limiter.run(clientKey, () => inSnapshot(work)),
  }
}

export interface PointAdvice {
  release: PublishedRelease
  /** At least one is not NaN. */
  values: LayerValues
}

/** Values, or the reason for none. */
export type PointOutcome = PointAdvice | ApiError

/**
 * Looks up values of published releases. A point has two paths: the hit path in memory, which never waits, and the miss
 * path through batchers and the database.
 */
export interface Lookup extends Answering {
  readonly reasons: Reasons
  readonly areas: AreaFinder
  readonly outlines: OutlineStore
  readonly places: Places
  /** From memory; undefined where it is too old. */
  known(): Snapshot | undefined
  current(): Promise<Snapshot>
  publishedRelease(code: string): Promise<PublishedRelease | undefined>
  /**
   * The release with a code, published or not.
   *
   * @throws {ApiError} NOT_FOUND, or RELEASE_GONE where it was deleted
   */
  namedRelease(code: string): Promise<PinnedRelease>
  /** Hit path; undefined for a miss. */
  adviseFromMemory(series: RequestedSeries, position: Position): PointOutcome | undefined
  /**
   * Both paths.
   *
   * @throws {ApiError} OVERLOADED where too many wait, to the client with most points
   */
  advise(series: RequestedSeries, position: Position, clientKey?: ClientKey): Promise<PointOutcome>
  /** Hit path; null without any value, undefined for a miss. */
  valuesFromMemory(release: PublishedRelease, position: Position): LayerValues | null | undefined
  /**
   * Values in the order of the positions; null without any. For work in `inRelease`.
   *
   * @throws {ReplacedMeanwhile} where the release was deleted
   */
  valuesAt(
    release: PublishedRelease,
    positions: Position[],
    clientKey?: ClientKey,
  ): Promise<(LayerValues | null)[]>
  /**
   * The stored pixel of each grid.
   *
   * @throws {ReplacedMeanwhile} where the release was deleted
   */
  storedAt(release: PublishedRelease, position: Position, clientKey: ClientKey): Promise<StoredPixels[]>
  /** Reads the most used tiles of all processes into memory; gives the uses that have an answer, most used first. */
  readMostUsed(withinMs: number): Promise<TileUse[]>
  /**
   * Stores the uses of tiles since the last call.
   *
   * @param last whether the process ends
   */
  keepTileUses(last: boolean): Promise<void>
  /** Forgets the uses of tiles since then. */
  forgetTileUses(): void
  state(): LookupState
}

interface LookupState extends PixelReaderState {
  snapshot: SnapshotState | undefined
  areas: AreaFinderState
  outlines: OutlineStoreState
  /** Points and batches in the miss path. */
  queue: QueueState
}

/** The embedded database runs one query at a time; a server's second one is prepared meanwhile. */
const CONCURRENT_QUERIES = { embedded: 1, server: 2 }

const MEGABYTE = 1_000_000

/** Tiles of unpublished releases have a small cache of their own: they evict no tile of a published one. */
const ARCHIVE_MB = 4

type LookupSources = Pick<App, 'database' | 'tiles' | 'config' | 'products'>

/** One look-up, with its caches, serves all requests. */
export function createLookup({ database, tiles, config, products }: LookupSources, pause: Pause): Lookup {
  const { kind, reader } = database
  const concurrency = CONCURRENT_QUERIES[kind]
  const cacheBytes = config.TILE_CACHE_MB * MEGABYTE
  const pixels = createPixelReader(database, tiles, { cacheBytes, concurrency })
  const archiveBytes = Math.min(cacheBytes, ARCHIVE_MB * MEGABYTE)
  const archive = createPixelReader(database, tiles, { cacheBytes: archiveBytes, concurrency: 1 })
  const readerOf = (release: PublishedRelease) => (release.archived ? archive : pixels)
  const outlines = createOutlineStore(reader)
  const warmUp = createWarmUp(database, pixels, pause)
  const hooks = { before: warmUp.readNew, after: warmUp.replaceOld }
  const snapshots = createSnapshots(database, products, config.RELEASE_MAX_AGE_MS, hooks)
  const areas = createAreaFinder(reader, concurrency, outlines)
  const reasons = createReasons(areas, products)
  const limiter = createFairRoom(config.DATABASE_QUEUE_LIMIT, overloaded)
  const pinned = createPinnedReleases(reader, products, config.RELEASE_MAX_AGE_MS)
  const answering = createAnswering(snapshots, pinned, limiter)

  const storedAt: Lookup['storedAt'] = (release, position, clientKey) =>
    Promise.all(release.coverages.map((coverage) => readerOf(release).read(coverage, position, clientKey)))

  const valuesOfPoint = async (release: PublishedRelease, position: Position, clientKey: ClientKey) =>
    valuesOf(release.layers, await storedAt(release, position, clientKey))

  const valuesFromMemory: Lookup['valuesFromMemory'] = (release, position) =>
    valuesInMemory(readerOf(release), release, position)

  return {
    reasons,
    areas,
    outlines,
    places: createPlaces(snapshots, areas),
    known: snapshots.known,
    current: snapshots.current,
    ...answering,
    valuesFromMemory,
    storedAt,
    readMostUsed: async (withinMs) => warmUp.readMostUsed(await snapshots.current(), withinMs),
    forgetTileUses: warmUp.forgetUses,
    keepTileUses: (last) => warmUp.keepUses(snapshots.state()?.published ?? [], last),
    async publishedRelease(code) {
      return (await snapshots.current()).published.find((release) => release.code === code)
    },
    namedRelease: async (code) => pinned.find(await snapshots.current(), code),
    adviseFromMemory(series, position) {
      if (series.release !== undefined) return undefined
      const snapshot = snapshots.known()
      const release = snapshot?.releaseOf(series)
      if (!snapshot || !release) return undefined
      const values = valuesFromMemory(release, position)
      if (values === undefined) return undefined
      return values ? { release, values } : reasons.noValueFromMemory(snapshot, series, position)
    },
    advise: (series, position, clientKey = EVERYBODY) =>
      answering.inReleaseQueued(series, clientKey, async (snapshot, release) => {
        if (!release) return reasons.noRelease(snapshot, { ...series, ...position }, 'point', clientKey)
        const values = await valuesOfPoint(release, position, clientKey)
        return values ? { release, values } : reasons.noValue(snapshot, series, position, 'point', clientKey)
      }),
    valuesAt: (release, positions, clientKey = EVERYBODY) =>
      completed(
        positions.map((position) => valuesFromMemory(release, position)),
        (index) => valuesOfPoint(release, positions[index] as Position, clientKey),
      ),
    state: () => ({
      ...pixels.state(),
      snapshot: snapshots.state(),
      areas: areas.state(),
      outlines: outlines.state(),
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
  return valuesOf(release.layers, found)
}
