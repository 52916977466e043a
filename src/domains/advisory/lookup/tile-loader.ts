import { isDatabaseUnavailable } from '#src/database/failures.ts'
import { type BatcherState, createBatcher } from '#src/lib/batcher.ts'
import type { Party } from '#src/lib/fair-line.ts'
import { createInterleaver, type InterleavedTile } from '#src/raster/interleave.ts'
import type { TileStore } from '#src/tiles/store.ts'
import type { NumberedCoverage } from './published-release.ts'
import { ReplacedMeanwhile } from './replaced.ts'
import type { TileCache } from './tile-cache.ts'
import { type NumberedTile, type PixelPlace, tileOf } from './tile-places.ts'
import type { StoredPixels } from './values.ts'

/** Brings tiles that are not in memory there. */
export interface TileLoader {
  /**
   * Reads a pixel of a tile that is not in memory.
   *
   * @throws {ReplacedMeanwhile} where the coverage has been deleted
   */
  read(coverage: NumberedCoverage, place: PixelPlace, party?: Party): Promise<StoredPixels>
  /** Reads tiles before somebody asks for them. Those of a coverage that has been deleted are left out. */
  readAhead(tiles: TileOfCoverage[]): Promise<void>
  /** What is asked of the database. */
  state(): BatcherState
}

/** A tile by its number, and what it is of. */
export interface TileOfCoverage {
  coverage: NumberedCoverage
  key: number
}

/** Who waits for a tile, and for which of its pixels. */
interface Waiting {
  place: PixelPlace
  resolve(pixels: StoredPixels): void
  reject(error: unknown): void
}

/** Tiles are some kilobytes each, and are decoded from hexadecimal digits while everyone waits. */
const TILES_PER_QUERY = 100

/** What there is where there is no tile. */
export const NOTHING: StoredPixels = []

/** Has a turn of its own beside those who wait. */
const NOBODY_YET: Party = { network: 'nobody', caller: '' }

/** Makes what loads tiles of a store into a cache. */
export function createTileLoader(store: TileStore, cache: TileCache, concurrency: number): TileLoader {
  const interleave = createInterleaver()
  const loading = new Map<number, Waiting[]>()
  const askTile = createBatcher({
    concurrency,
    failsAll: isDatabaseUnavailable,
    run: (tiles: NumberedTile[]) => store.find(tiles),
    batch: TILES_PER_QUERY,
    keyOf: ({ key }) => key,
  })

  /** However many ask for a tile, the database is asked once. */
  function readWhenLoaded(
    coverage: NumberedCoverage,
    place: PixelPlace,
    party?: Party,
  ): Promise<StoredPixels> {
    return new Promise((resolve, reject) => {
      const waiting = { place, resolve, reject }
      const others = loading.get(place.key)
      const bytes = askTile(tileOf(coverage, place.key), party)
      if (others) {
        others.push(waiting)
        // It was asked for the turn of this party: whoever asked first may wait for many others.
        bytes.catch(() => {})
      } else {
        loading.set(place.key, [waiting])
        void load(place.key, bytes)
      }
    })
  }

  /** Answers those who wait for a tile. */
  async function load(key: number, asked: Promise<Buffer | null>): Promise<void> {
    try {
      const bytes = existing(await asked)
      const tile = bytes.length === 0 ? null : interleave(bytes)
      const waiting = takeWaiting(key)
      cache.set(key, tile, waiting.length)
      for (const { place, resolve } of waiting) resolve(pixelIn(tile, place))
    } catch (error) {
      for (const { reject } of takeWaiting(key)) reject(error)
    }
  }

  function takeWaiting(key: number): Waiting[] {
    const waiting = loading.get(key) ?? []
    loading.delete(key)
    return waiting
  }

  return {
    read: readWhenLoaded,
    async readAhead(tiles) {
      const missing = tiles.filter(({ key }) => !cache.has(key) && !loading.has(key))
      const loaded = missing.map(async ({ coverage, key }) => {
        const asked = askTile(tileOf(coverage, key), NOBODY_YET)
        loading.set(key, [])
        await load(key, asked)
        await asked
      })
      await Promise.all(loaded)
    },
    state: askTile.state,
  }
}

/** What the database has found: null of what is not there any more. */
export function existing<Found>(found: Found | null): Found {
  if (found === null) throw new ReplacedMeanwhile()
  return found
}

export function pixelIn(tile: InterleavedTile | null, { column, row }: PixelPlace): StoredPixels {
  if (tile === null) return NOTHING
  const { width, bands, start, pixels } = tile
  const from = start + (row * width + column) * bands
  const values: StoredPixels = []
  for (let at = from; at < from + bands; at++) values.push(pixels[at] as number)
  return values
}
