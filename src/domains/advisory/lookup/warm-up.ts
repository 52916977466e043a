import type { Database } from '#src/database/client.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Series } from '#src/products/series.ts'
import type { PixelReader } from './pixels.ts'
import type { PublishedRelease } from './published-release.ts'
import type { Snapshot } from './snapshot.ts'
import type { TileOfCoverage } from './tile-loader.ts'
import { placeIn } from './tile-places.ts'
import { addTileUses, findMostUsed, forgetLeastUsed, type TileUse } from './tile-use-queries.ts'
import { findUsedTiles } from './used-tiles.ts'

/** Has tiles in memory before they are asked for. */
export interface WarmUp {
  /**
   * Reads the tiles that processes have been asked for most, of what answers now, until all are there, there is no
   * room for more, or the time is over.
   *
   * @returns what was asked for and has an answer, most of all first
   */
  readMostUsed(snapshot: Snapshot, withinMs: number): Promise<TileUse[]>
  /** Reads the tiles of releases that are new, where those of others on the same subject are in use. */
  readNew(releases: readonly PublishedRelease[], before: readonly PublishedRelease[]): Promise<void>
  /**
   * Tells the processes to come which tiles have been asked for since this was last done.
   *
   * @param last whether the process ends: then what was asked for most is told alone, in one statement
   */
  keepUses(published: readonly PublishedRelease[], last: boolean): Promise<void>
  /** Has what has been asked for so far told to nobody. */
  forgetUses(): void
}

/** So many tiles are known of: some 10 MB of rows. */
const MOST_KEPT = 50_000

/** Some milliseconds' worth of the database. */
const USES_A_STATEMENT = 1000

/** Some queries' worth: after them there may be no more room. */
const TILES_AT_A_TIME = 400

/** The parts of the cache that are filled. When releases are new, what has answered until then is in it as well. */
const PART_AT_START = 0.9
const PART_FOR_NEW = 0.5

/** Longer than it takes to read all that has room, as a rule: nothing goes on for ever beside requests. */
const READ_NEW_MS = 10_000

/** Makes the warm-up of a cache of tiles. */
export function createWarmUp({ reader, writer }: Database, pixels: PixelReader, pause: Pause): WarmUp {
  const { limitBytes } = pixels.state().cache

  /** Reads tiles until they take so much room, or the time is over. */
  async function read(tiles: Iterable<TileOfCoverage>, bytes: number, withinMs: number): Promise<void> {
    const late = performance.now() + withinMs
    let taken = 0
    for (const some of inGroups(tiles, TILES_AT_A_TIME)) {
      taken += await pixels.readAhead(some)
      if (taken >= bytes || performance.now() >= late) return
    }
  }

  return {
    async readMostUsed(snapshot, withinMs) {
      if (limitBytes === 0) return []
      const releaseFor = (use: TileUse) => snapshot.releaseOf({ ...use, forecastPeriod: null })
      const uses = (await findMostUsed(reader, MOST_KEPT)).filter(releaseFor)
      const tiles = tilesOf(uses, (use) => [releaseFor(use) as PublishedRelease])
      await read(tiles, PART_AT_START * limitBytes, withinMs)
      return uses
    },
    async readNew(releases, before) {
      const subjects = new Set(releases.map(subjectOf))
      const related = before.filter((release) => subjects.has(subjectOf(release)))
      const used = await findUsedTiles(pixels.uses.used(), related, MOST_KEPT, pause)
      const tiles = tilesOf(used, (use) =>
        releases.filter((release) => subjectOf(release) === subjectOf(use)),
      )
      await read(tiles, PART_FOR_NEW * limitBytes, READ_NEW_MS)
    },
    async keepUses(published, last) {
      const most = last ? USES_A_STATEMENT : MOST_KEPT
      const found = await findUsedTiles(pixels.uses.used(), published, most, pause)
      const used = found.filter(({ uses }) => uses > 0)
      for (let next = 0; next < used.length; next += USES_A_STATEMENT) {
        const some = used.slice(next, next + USES_A_STATEMENT)
        await addTileUses(writer, some)
        some.forEach(pixels.uses.counted)
      }
      if (used.length > 0 && !last) await forgetLeastUsed(writer, MOST_KEPT)
    },
    forgetUses() {
      for (const tile of pixels.uses.used()) pixels.uses.counted(tile)
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
