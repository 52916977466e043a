import type { Series } from '#schemas/products/define.ts'
import type { Database } from '#src/data/client.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { PixelReader, TilesInMemory } from './pixels.ts'
import { addTileUses, findMostUsed, forgetLeastUsed, type TileUse } from './queries.ts'
import type { NumberedCoverage, PublishedRelease } from './releases.ts'
import type { Snapshot } from './snapshot.ts'
import { computeTileCentre, findPixel, type TileOfCoverage, type TileUses } from './tiles.ts'

interface Range {
  release: PublishedRelease
  coverage: NumberedCoverage
  /** One more than the key of its last tile. */
  end: number
}

/** A millisecond of work. */
const TILES_A_PAUSE = 2000

/** The most used tiles of some releases in memory, in no order. There may be millions of tiles. */
async function findUsedTiles(
  used: Iterable<TileUses>,
  releases: readonly PublishedRelease[],
  most: number,
  pause: Pause,
): Promise<(TileUse & TileUses)[]> {
  const findRange = createRangeFinder(releases)
  let found: (TileUse & TileUses)[] = []
  let seen = 0
  for (const { key, uses } of used) {
    if (++seen % TILES_A_PAUSE === 0) await pause()
    const range = findRange(key)
    if (!range) continue
    const { product, countryCode, cropCode } = range.release
    found.push({ key, uses, product, countryCode, cropCode, ...computeTileCentre(range.coverage, key) })
    if (found.length === 2 * most) found = takeMostUsed(found, most)
  }
  return found.length > most ? takeMostUsed(found, most) : found
}

/** Evicts the tiles of all releases but the published ones, and those that are prepared meanwhile. */
async function forgetTiles(
  tiles: TilesInMemory,
  releases: readonly PublishedRelease[],
  pause: Pause,
): Promise<void> {
  const findRange = createRangeFinder(releases)
  // Keys grow with the time at which releases are found: a higher one is of a newer release.
  const end = Math.max(0, ...releases.flatMap(({ coverages }) => coverages.map(endOf)))
  let seen = 0
  for (const key of tiles.keys()) {
    if (++seen % TILES_A_PAUSE === 0) await pause()
    if (key < end && !findRange(key)) tiles.forget(key)
  }
}

function takeMostUsed<Tile extends TileUses>(tiles: Tile[], most: number): Tile[] {
  return tiles.sort((one, other) => other.uses - one.uses).slice(0, most)
}

/** Finds the coverage of a tile by its key. */
function createRangeFinder(releases: readonly PublishedRelease[]): (key: number) => Range | undefined {
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

/** Tiles with uses in the database: some 10 MB of rows. */
const MOST_STORED = 50_000

/** Some milliseconds of the database. */
const USES_A_STATEMENT = 1000

/** Time of a process that ends, beside the rest of its end. */
const LAST_MS = 2000

/** Some queries; after them the cache may be full. */
const TILES_AT_START = 400

/** Part of the cache that is filled, beside tiles of requests meanwhile. */
const FILLED_PART = 0.9

/** Less than a millisecond of work between requests. */
const TILES_BESIDE_REQUESTS = 32

/** Longer than it takes to fill the cache, as a rule. */
const READ_NEW_MS = 10_000

/** Reads tiles into memory before requests need them. */
export function createWarmUp({ reader, writer }: Database, pixels: PixelReader, pause: Pause) {
  const { limitBytes } = pixels.state().cache

  /** Of new releases. */
  let unread: Generator<TileOfCoverage[]> = inGroups([], TILES_BESIDE_REQUESTS)
  let readUntil = 0
  let reading: Promise<void> | undefined

  const hasSpace = () => pixels.state().cache.freeBytes > (1 - FILLED_PART) * limitBytes

  async function readBesideRequests(): Promise<void> {
    while (hasSpace() && performance.now() < readUntil) {
      const { done, value } = unread.next()
      if (done) return
      await pixels.readAhead(value)
      await pause()
    }
  }

  /** One query at a time. */
  function goOnReading(): Promise<void> {
    reading ??= readBesideRequests()
      .catch(() => {})
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  return {
    /**
     * Reads the most used tiles of all processes from the published releases, until the cache is full or the time is
     * over. Gives the uses that have an answer, most used first.
     */
    async readMostUsed(snapshot: Snapshot, withinMs: number): Promise<TileUse[]> {
      if (limitBytes === 0) return []
      const releaseFor = (use: TileUse) => snapshot.releaseOf({ ...use, forecastPeriod: null })
      const uses = (await findMostUsed(reader, MOST_STORED)).filter(releaseFor)
      const tiles = tilesOf(uses, (use) => [releaseFor(use) as PublishedRelease])
      const late = performance.now() + withinMs
      for (const some of inGroups(tiles, TILES_AT_START)) {
        await pixels.readAhead(some)
        if (!hasSpace() || performance.now() >= late) break
      }
      return uses
    },
    /** Reads the tiles of new releases where those of others on the same subject are in use, as far as there is space. */
    async readNew(releases: readonly PublishedRelease[], before: readonly PublishedRelease[]): Promise<void> {
      const subjects = new Set(releases.map(subjectOf))
      const related = before.filter((release) => subjects.has(subjectOf(release)))
      const used = await findUsedTiles(pixels.tiles.used(), related, MOST_STORED, pause)
      const tiles = tilesOf(used, (use) =>
        releases.filter((release) => subjectOf(release) === subjectOf(use)),
      )
      unread = inGroups(tiles, TILES_BESIDE_REQUESTS)
      readUntil = performance.now() + READ_NEW_MS
      await goOnReading()
    },
    /** Evicts the tiles of replaced releases, and goes on to read those of new ones. */
    async replaceOld(published: readonly PublishedRelease[]): Promise<void> {
      await forgetTiles(pixels.tiles, published, pause)
      await goOnReading()
    },
    /**
     * Stores the uses of tiles since the last call.
     *
     * @param last whether the process ends: then the most used tiles are first, as far as there is time
     */
    async keepUses(published: readonly PublishedRelease[], last: boolean): Promise<void> {
      const found = await findUsedTiles(pixels.tiles.used(), published, MOST_STORED, pause)
      await storeUses(writer, pixels.tiles, found, last)
    },
    forgetUses(): void {
      for (const tile of pixels.tiles.used()) pixels.tiles.counted(tile)
    },
  }
}

async function storeUses(
  writer: Database['writer'],
  tiles: TilesInMemory,
  found: (TileUse & TileUses)[],
  last: boolean,
): Promise<void> {
  const late = performance.now() + (last ? LAST_MS : Number.POSITIVE_INFINITY)
  const used = found.filter(({ uses }) => uses > 0)
  if (last) used.sort((one, other) => other.uses - one.uses)
  for (const some of inGroups(used, USES_A_STATEMENT)) {
    await addTileUses(writer, some)
    some.forEach(tiles.counted)
    if (performance.now() >= late) return
  }
  if (used.length > 0 && !last) await forgetLeastUsed(writer, MOST_STORED)
}

/** Subject of releases of any month. */
function subjectOf({ product, countryCode, cropCode }: Omit<Series, 'forecastPeriod'>): string {
  return `${product} ${countryCode} ${cropCode}`
}

/** The tiles of releases at the positions of others; several positions may be in one tile of a coarser grid. */
function* tilesOf(
  uses: TileUse[],
  releasesFor: (use: TileUse) => readonly PublishedRelease[],
): Generator<TileOfCoverage> {
  const found = new Set<number>()
  for (const use of uses) {
    for (const coverage of releasesFor(use).flatMap(({ coverages }) => coverages)) {
      const place = findPixel(coverage, use)
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
