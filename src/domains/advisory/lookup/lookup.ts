import type { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { completed } from '#src/lib/completed.ts'
import { EVERYBODY, type Party } from '#src/lib/fair-line.ts'
import type { QueueState } from '#src/lib/fair-queue.ts'
import { createFairRoom } from '#src/lib/fair-room.ts'
import type { Wait } from '#src/lib/patience.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Series } from '#src/products/series.ts'
import { type AreaFinder, type AreaFinderState, createAreaFinder } from './areas.ts'
import { createOutlineStore, type OutlineStore, type OutlineStoreState } from './outlines.ts'
import { createPixelReader, type PixelReader, type PixelReaderState } from './pixels.ts'
import type { PublishedRelease } from './published-release.ts'
import type { Position } from './queries.ts'
import { createReasons, type Reasons } from './reasons.ts'
import { ReplacedMeanwhile } from './replaced.ts'
import { createSnapshots, type Snapshot, type SnapshotState, type Snapshots } from './snapshot.ts'
import type { TileUse } from './tile-use-queries.ts'
import { type LayerValues, type StoredPixels, valuesOf } from './values.ts'
import { createWarmUp } from './warm-up.ts'

/** What a release says of a point. */
export interface PointAdvice {
  release: PublishedRelease
  /** At least one is not NaN. */
  values: LayerValues
}

/** What the release that answers says of a point, or the reason why there is no answer. */
export type PointOutcome = PointAdvice | ApiError

/** Work in what is published. */
export type WorkInSnapshot<Result> = (snapshot: Snapshot) => Promise<Result>

/** Work in the release that answers for a series; undefined where nothing is published for it. */
export type WorkInRelease<Result> = (
  snapshot: Snapshot,
  release: PublishedRelease | undefined,
) => Promise<Result>

/**
 * Looks up what the published releases say. A point has two lanes: from memory, which never waits, and
 * otherwise through the database, for all who ask meanwhile in one query.
 */
export interface Lookup {
  readonly reasons: Reasons
  readonly areas: AreaFinder
  readonly outlines: OutlineStore
  /** What is published, as far as that is known without waiting. */
  known(): Snapshot | undefined
  /** What is published; where what is known is too old, the database is asked. */
  current(): Promise<Snapshot>
  /** The release that answers for a series now; undefined where nothing is published for it. */
  releaseOf(series: Series): Promise<PublishedRelease | undefined>
  /** The release with a code, where it is published now. */
  publishedRelease(code: string): Promise<PublishedRelease | undefined>
  /** From memory alone; undefined where the database has to be asked. */
  adviseFromMemory(series: Series, position: Position): PointOutcome | undefined
  /**
   * From memory, and otherwise through the database.
   *
   * @param party who waits for it: those who wait take turns
   * @throws {ApiError} OVERLOADED where too many wait, and this party has most of them
   */
  advise(series: Series, position: Position, party?: Party): Promise<PointOutcome>
  /** What a release has at a position: null where no layer has a value, undefined where the database has to be asked. */
  valuesFromMemory(release: PublishedRelease, position: Position): LayerValues | null | undefined
  /**
   * What a release has at some positions, in their order; null where no layer has a value.
   *
   * @throws {ReplacedMeanwhile} where the release has been deleted: to be called within `inRelease`
   */
  valuesAt(release: PublishedRelease, positions: Position[], party?: Party): Promise<(LayerValues | null)[]>
  /**
   * Does work in the release that answers for a series. The one place that decides which that is: where it
   * is replaced before the work is done, the work begins anew in what has taken its place.
   *
   * @param wait by which it is waited for what is published
   * @throws {ApiError} OVERLOADED where it is replaced again and again
   */
  inRelease<Result>(series: Series, work: WorkInRelease<Result>, wait?: Wait): Promise<Result>
  /**
   * The same for work that waits for the database together with that of others.
   *
   * @throws {ApiError} OVERLOADED where more than DATABASE_QUEUE_LIMIT wait, and the party has most of them
   */
  inReleaseQueued<Result>(
    series: Series,
    party: Party,
    work: WorkInRelease<Result>,
    wait?: Wait,
  ): Promise<Result>
  /** The same for work that is about more than one series. */
  inSnapshotQueued<Result>(party: Party, work: WorkInSnapshot<Result>): Promise<Result>
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
export interface LookupState extends PixelReaderState {
  snapshot: SnapshotState | undefined
  areas: AreaFinderState
  outlines: OutlineStoreState
  /** Points and batches in the lane through the database. */
  queue: QueueState
}

/** That a release is deleted while it is read happens; so often in a row, only while much is being replaced. */
const ATTEMPTS = 5

/** The embedded database answers one query at a time, and for a server's second one there is work to prepare. */
const CONCURRENT_QUERIES = { embedded: 1, server: 2 }

const MEGABYTE = 1_000_000

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
  const outlines = createOutlineStore(reader)
  const warmUp = createWarmUp(database, pixels, pause)
  const handover = { before: warmUp.readNew, after: warmUp.replaceOld }
  const snapshots = createSnapshots(database, products, config.RELEASE_MAX_AGE_MS, handover)
  const areas = createAreaFinder(reader, concurrency, outlines)
  const reasons = createReasons(areas, products)
  const room = createFairRoom(config.DATABASE_QUEUE_LIMIT, overloaded)

  async function valuesOfPoint(
    release: PublishedRelease,
    position: Position,
    party: Party,
  ): Promise<LayerValues | null> {
    const stored = await Promise.all(
      release.coverages.map((coverage) => pixels.read(coverage, position, party)),
    )
    return valuesOf(release.layers, stored)
  }

  const inSnapshot = <Result>(work: WorkInSnapshot<Result>, wait?: Wait) => workIn(snapshots, work, wait)
  const inRelease: Lookup['inRelease'] = (series, work, wait) =>
    inSnapshot((snapshot) => work(snapshot, snapshot.releaseOf(series)), wait)
  const inReleaseQueued: Lookup['inReleaseQueued'] = (series, party, work, wait) =>
    room.run(party, () => inRelease(series, work, wait))

  const valuesFromMemory: Lookup['valuesFromMemory'] = (release, position) =>
    valuesInMemory(pixels, release, position)

  return {
    reasons,
    areas,
    outlines,
    known: snapshots.known,
    current: snapshots.current,
    inRelease,
    inReleaseQueued,
    inSnapshotQueued: (party, work) => room.run(party, () => inSnapshot(work)),
    valuesFromMemory,
    readMostUsed: async (withinMs) => warmUp.readMostUsed(await snapshots.current(), withinMs),
    forgetTileUses: warmUp.forgetUses,
    keepTileUses: (last) => warmUp.keepUses(snapshots.state()?.published ?? [], last),
    async releaseOf(series) {
      return (await snapshots.current()).releaseOf(series)
    },
    async publishedRelease(code) {
      return (await snapshots.current()).published.find((release) => release.code === code)
    },
    adviseFromMemory(series, position) {
      const snapshot = snapshots.known()
      const release = snapshot?.releaseOf(series)
      if (!snapshot || !release) return undefined
      const values = valuesFromMemory(release, position)
      if (values === undefined) return undefined
      return values ? { release, values } : reasons.noValueFromMemory(snapshot, series, position)
    },
    advise: (series, position, party = EVERYBODY) =>
      inReleaseQueued(series, party, async (snapshot, release) => {
        if (!release) return reasons.noRelease(snapshot, { ...series, ...position }, 'point', party)
        const values = await valuesOfPoint(release, position, party)
        return values ? { release, values } : reasons.noValue(snapshot, series, position, 'point', party)
      }),
    valuesAt: (release, positions, party = EVERYBODY) =>
      completed(
        positions.map((position) => valuesFromMemory(release, position)),
        (index) => valuesOfPoint(release, positions[index] as Position, party),
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

/** Where what is published is replaced before the work is done, the work begins anew. */
async function workIn<Result>(
  snapshots: Snapshots,
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
