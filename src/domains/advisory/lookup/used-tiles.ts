import type { Pause } from '#src/lib/turns.ts'
import type { TilesInMemory } from './pixels.ts'
import type { NumberedCoverage, PublishedRelease } from './published-release.ts'
import type { TileUses } from './tile-cache.ts'
import { centreOf } from './tile-places.ts'
import type { TileUse } from './tile-use-queries.ts'

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
export async function findUsedTiles(
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
export async function forgetTiles(
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
