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
import { type AreaFinder, type AreaFinderState, createAreaFinder } from './areas.ts'
import { createOutlineStore, type OutlineStore, type OutlineStoreState } from './outlines.ts'
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

/** Work in what is published. */
type WorkInSnapshot<Result> = (snapshot: Snapshot) => Promise<Result>

/** Work in the release that answers for a series; undefined where nothing is published for it. */
export type WorkInRelease<Result> = (
  snapshot: Snapshot,
  release: PublishedRelease | undefined,
) => Promise<Result>

/** Decides which release answers: the one that a request names, or else the one that is published for what it asks for. */
interface Answering {
  /**
   * The release that answers now; undefined where nothing is published for what is asked for.
   *
   * @throws {ApiError} NOT_FOUND or RELEASE_GONE, where one is named that is not there
   */
  releaseOf(series: RequestedSeries): Promise<PublishedRelease | undefined>
  /**
   * Does work in the release that answers for a series. The one place that decides which that is: where it
   * is replaced before the work is done, the work begins anew in what has taken its place.
   *
   * @param wait by which it is waited for what is published
   * @throws {ApiError} OVERLOADED where it is replaced again and again; what `releaseOf` throws
   */
  inRelease<Result>(series: RequestedSeries, work: WorkInRelease<Result>, wait?: Wait): Promise<Result>
  /**
   * The same for work that waits for the database together with that of others.
   *
   * @throws {ApiError} OVERLOADED where more than DATABASE_QUEUE_LIMIT wait, and the client key has most of them
   */
  inReleaseQueued<Result>(
    series: RequestedSeries,
    clientKey: ClientKey,
    work: WorkInRelease<Result>,
    wait?: Wait,
  ): Promise<Result>
  /** The same for work that is about more than one series. */
  inSnapshotQueued<Result>(clientKey: ClientKey, work: WorkInSnapshot<Result>): Promise<Result>
}

/** That a release is deleted while it is read happens; so often in a row, only while much is being replaced. */
const ATTEMPTS = 5

function createAnswering(snapshots: Snapshots, pinned: PinnedReleases, room: FairRoom): Answering {
  /** Where what is published is replaced before the work is done, the work begins anew. */
  async function inSnapshot<Result>(
    work: WorkInSnapshot<Result>,
    wait: Wait = (something) => something(),
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

  /** Where a release that was named is found to be gone or elsewhere, it is looked for again, and that says so. */
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
      room.run(clientKey, () => inRelease(series, work, wait)),
    inSnapshotQueued: (clientKey, work) => room.run(clientKey, () => inSnapshot(work)),
  }
}

/** What a release says of a point. */
export interface PointAdvice {
  release: PublishedRelease
  /** At least one is not NaN. */
  values: LayerValues
}

/** What the release that answers says of a point, or the reason why there is no answer. */
export type PointOutcome = PointAdvice | ApiError

/**
 * Looks up what the published releases say. A point has two lanes: from memory, which never waits, and
 * otherwise through the database, for all who ask meanwhile in one query.
 */
export interface Lookup extends Answering {
  readonly reasons: Reasons
  readonly areas: AreaFinder
  readonly outlines: OutlineStore
  readonly places: Places
  /** What is published, as far as that is known without waiting. */
  known(): Snapshot | undefined
  /** What is published; where what is known is too old, the database is asked. */
  current(): Promise<Snapshot>
  /** The release with a code, where it is published now. */
  publishedRelease(code: string): Promise<PublishedRelease | undefined>
  /**
   * The release with a code, published or not.
   *
   * @throws {ApiError} NOT_FOUND where there is no complete one, RELEASE_GONE where it has been deleted
   */
  namedRelease(code: string): Promise<PinnedRelease>
  /** From memory alone; undefined where the database has to be asked. */
  adviseFromMemory(series: RequestedSeries, position: Position): PointOutcome | undefined
  /**
   * From memory, and otherwise through the database.
   *
   * @param client key who waits for it: those who wait take turns
   * @throws {ApiError} OVERLOADED where too many wait, and this client key has most of them
   */
  advise(series: RequestedSeries, position: Position, clientKey?: ClientKey): Promise<PointOutcome>
  /** What a release has at a position: null where no layer has a value, undefined where the database has to be asked. */
  valuesFromMemory(release: PublishedRelease, position: Position): LayerValues | null | undefined
  /**
   * What a release has at some positions, in their order; null where no layer has a value.
   *
   * @throws {ReplacedMeanwhile} where the release has been deleted: to be called within `inRelease`
   */
  valuesAt(
    release: PublishedRelease,
    positions: Position[],
    clientKey?: ClientKey,
  ): Promise<(LayerValues | null)[]>
  /**
   * The pixel of each grid of a release at a position, as it is stored.
   *
   * @throws {ReplacedMeanwhile} where the release has been deleted
   */
  storedAt(release: PublishedRelease, position: Position, clientKey: ClientKey): Promise<StoredPixels[]>
  /**
   * Reads the tiles into memory that processes have been asked for most, as far as there is time and room for them.
   *
   * @returns what was asked for and has an answer, most of all first
   */
  readMostUsed(withinMs: number): Promise<TileUse[]>
  /**
   * Tells the processes to come which tiles have been asked for since this was last done.
   *
   * @param last whether the process ends
   */
  keepTileUses(last: boolean): Promise<void>
  /** Has what has been asked for so far told to nobody. */
  forgetTileUses(): void
  state(): LookupState
}

/** What a look-up has in memory, and what it does at the database. */
interface LookupState extends PixelReaderState {
  snapshot: SnapshotState | undefined
  areas: AreaFinderState
  outlines: OutlineStoreState
  /** Points and batches in the lane through the database. */
  queue: QueueState
}

/** The embedded database answers one query at a time, and for a server's second one there is work to prepare. */
const CONCURRENT_QUERIES = { embedded: 1, server: 2 }

const MEGABYTE = 1_000_000

/**
 * Tiles of releases that are not published have a small memory of their own: who asks for many of them takes nothing from
 * those who ask for what is published.
 */
const ARCHIVE_MB = 4

/** What a look-up reads, and how. */
type LookupSources = Pick<App, 'database' | 'tiles' | 'config' | 'products'>

/**
 * Makes a look-up with caches of its own: one is enough for all who ask.
 *
 * @param pause lets requests go on where there is much to do beside them
 */
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
  const room = createFairRoom(config.DATABASE_QUEUE_LIMIT, overloaded)
  const pinned = createPinnedReleases(reader, products, config.RELEASE_MAX_AGE_MS)
  const answering = createAnswering(snapshots, pinned, room)

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
      queue: room.state(),
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
