import type { Series } from '#schemas/products/define.ts'
import type { Database } from '#src/data/client.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { PixelReader, TilesInMemory } from './pixels.ts'
import { addTileUses, findMostUsed, forgetLeastUsed, type TileUse } from './queries.ts'
import type { NumberedCoverage, PublishedRelease } from './releases.ts'
import type { Snapshot } from './snapshot.ts'
import { centreOf, placeIn, type TileOfCoverage, type TileUses } from './tiles.ts'

interface Range {
  release: PublishedRelease
  coverage: NumberedCoverage
  /** The number after that of its last tile. */
  end: number
}

/** A millisecond's worth. */
const TILES_A_PAUSE = 2000

/**
 * The tiles in memory that were asked for most of some releases, with what they are of and where they lie, in no order.
 *
 * @param used there may be millions of them
 */
async function findUsedTiles(
  used: Iterable<TileUses>,
  releases: readonly PublishedRelease[],
  most: number,
  pause: Pause,
): Promise<(TileUse & TileUses)[]> {
  const rangeOf = rangeFinderOf(releases)
  let found: (TileUse & TileUses)[] = []
  let seen = 0
  for (const { key, uses } of used) {
    if (++seen % TILES_A_PAUSE === 0) await pause()
    const range = rangeOf(key)
    if (!range) continue
    const { product, countryCode, cropCode } = range.release
    found.push({ key, uses, product, countryCode, cropCode, ...centreOf(range.coverage, key) })
    if (found.length === 2 * most) found = mostUsedOf(found, most)
  }
  return found.length > most ? mostUsedOf(found, most) : found
}

/**
 * Gives up the tiles of all releases but those that answer: others are asked for no more.
 *
 * @param tiles there may be millions of them; those of a release that is prepared meanwhile stay
 */
async function forgetTiles(
  tiles: TilesInMemory,
  releases: readonly PublishedRelease[],
  pause: Pause,
): Promise<void> {
  const rangeOf = rangeFinderOf(releases)
  // Tiles are numbered as their releases are found: what has a higher number is of a newer one.
  const end = Math.max(0, ...releases.flatMap(({ coverages }) => coverages.map(endOf)))
  let seen = 0
  for (const key of tiles.keys()) {
    if (++seen % TILES_A_PAUSE === 0) await pause()
    if (key < end && !rangeOf(key)) tiles.forget(key)
  }
}

function mostUsedOf<Tile extends TileUses>(tiles: Tile[], most: number): Tile[] {
  return tiles.sort((one, other) => other.uses - one.uses).slice(0, most)
}

/** Finds the coverage that a tile is of by its number. */
function rangeFinderOf(releases: readonly PublishedRelease[]): (key: number) => Range | undefined {
  const ranges = releases
    .flatMap((release) => release.coverages.map((coverage) => ({ release, coverage, end: endOf(coverage) })))
    .sort((one, other) => one.end - other.end)
  return (key) => {
    let [from, to] = [0, ranges.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((ranges[middle] as Range).end <= key) from = middle + 1
      else to = middle
    }
    const range = ranges[from]
    return range && key >= range.coverage.firstTile ? range : undefined
  }
}

function endOf({ firstTile, tileColumns, height, tileSize }: NumberedCoverage): number {
  return firstTile + tileColumns * Math.ceil(height / tileSize)
}

/** Has tiles in memory before they are asked for. */
interface WarmUp {
  /**
   * Reads the tiles that processes have been asked for most, of what answers now, until all are there, there is no
   * room for more, or the time is over.
   *
   * @returns what was asked for and has an answer, most of all first
   */
  readMostUsed(snapshot: Snapshot, withinMs: number): Promise<TileUse[]>
  /**
   * Reads the tiles of releases that are new, where those of others on the same subject are in use, as far as there is
   * room beside these. It never fails: whoever asks for the tiles is told of the failure.
   */
  readNew(releases: readonly PublishedRelease[], before: readonly PublishedRelease[]): Promise<void>
  /** Gives up the tiles of releases that answer no more, and goes on with those of new ones in their room. It never fails. */
  replaceOld(published: readonly PublishedRelease[]): Promise<void>
  /**
   * Tells the processes to come which tiles have been asked for since this was last done.
   *
   * @param last whether the process ends: then what was asked for most comes first, as far as there is time
   */
  keepUses(published: readonly PublishedRelease[], last: boolean): Promise<void>
  /** Has what has been asked for so far told to nobody. */
  forgetUses(): void
}

/** So many tiles are known of: some 10 MB of rows. */
const MOST_KEPT = 50_000

/** Some milliseconds' worth of the database. */
const USES_A_STATEMENT = 1000

/** What a process that ends may take for it: beside all else that its end may take. */
const LAST_MS = 2000

/** Some queries' worth: after them there may be no more room. */
const TILES_AT_START = 400

/** The part of the cache that is filled: what is asked for meanwhile has room beside that. */
const FILLED_PART = 0.9

/** Less than a millisecond's worth: requests go on before the next ones. */
const TILES_BESIDE_REQUESTS = 32

/** Longer than it takes to read all that has room, as a rule: nothing goes on for ever beside requests. */
const READ_NEW_MS = 10_000

/** Makes the warm-up of a cache of tiles. */
export function createWarmUp({ reader, writer }: Database, pixels: PixelReader, pause: Pause): WarmUp {
  const { limitBytes } = pixels.state().cache

  /** What is still to be read of new releases. */
  let unread: Generator<TileOfCoverage[]> = inGroups([], TILES_BESIDE_REQUESTS)
  let readUntil = 0
  let reading: Promise<void> | undefined

  const hasRoom = () => pixels.state().cache.freeBytes > (1 - FILLED_PART) * limitBytes

  async function readBesideRequests(): Promise<void> {
    while (hasRoom() && performance.now() < readUntil) {
      const { done, value } = unread.next()
      if (done) return
      await pixels.readAhead(value)
      await pause()
    }
  }

  /** One query at a time, whoever wants it. */
  function goOnReading(): Promise<void> {
    reading ??= readBesideRequests()
      .catch(() => {})
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  return {
    async readMostUsed(snapshot, withinMs) {
      if (limitBytes === 0) return []
      const releaseFor = (use: TileUse) => snapshot.releaseOf({ ...use, forecastPeriod: null })
      const uses = (await findMostUsed(reader, MOST_KEPT)).filter(releaseFor)
      const tiles = tilesOf(uses, (use) => [releaseFor(use) as PublishedRelease])
      const late = performance.now() + withinMs
      for (const some of inGroups(tiles, TILES_AT_START)) {
        await pixels.readAhead(some)
        if (!hasRoom() || performance.now() >= late) break
      }
      return uses
    },
    async readNew(releases, before) {
      const subjects = new Set(releases.map(subjectOf))
      const related = before.filter((release) => subjects.has(subjectOf(release)))
      const used = await findUsedTiles(pixels.tiles.used(), related, MOST_KEPT, pause)
      const tiles = tilesOf(used, (use) =>
        releases.filter((release) => subjectOf(release) === subjectOf(use)),
      )
      unread = inGroups(tiles, TILES_BESIDE_REQUESTS)
      readUntil = performance.now() + READ_NEW_MS
      await goOnReading()
    },
    async replaceOld(published) {
      await forgetTiles(pixels.tiles, published, pause)
      await goOnReading()
    },
    async keepUses(published, last) {
      const late = performance.now() + (last ? LAST_MS : Number.POSITIVE_INFINITY)
      const found = await findUsedTiles(pixels.tiles.used(), published, MOST_KEPT, pause)
      const used = found.filter(({ uses }) => uses > 0)
      if (last) used.sort((one, other) => other.uses - one.uses)
      for (const some of inGroups(used, USES_A_STATEMENT)) {
        await addTileUses(writer, some)
        some.forEach(pixels.tiles.counted)
        if (performance.now() >= late) return
      }
      if (used.length > 0 && !last) await forgetLeastUsed(writer, MOST_KEPT)
    },
    forgetUses() {
      for (const tile of pixels.tiles.used()) pixels.tiles.counted(tile)
    },
  }
}

/** What releases of any month are about. */
function subjectOf({ product, countryCode, cropCode }: Omit<Series, 'forecastPeriod'>): string {
  return `${product} ${countryCode} ${cropCode}`
}

/** The tiles of releases at the places of others, each once: on a coarser grid several lie in one. */
function* tilesOf(
  uses: TileUse[],
  releasesFor: (use: TileUse) => readonly PublishedRelease[],
): Generator<TileOfCoverage> {
  const found = new Set<number>()
  for (const use of uses) {
    for (const coverage of releasesFor(use).flatMap(({ coverages }) => coverages)) {
      const place = placeIn(coverage, use)
      if (!place || found.has(place.key)) continue
      found.add(place.key)
      yield { coverage, key: place.key }
    }
  }
}

function* inGroups<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let group: Item[] = []
  for (const item of items) {
    group.push(item)
    if (group.length < size) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}
