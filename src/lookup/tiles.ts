import { isDatabaseUnavailable } from '#src/data/failures.ts'
import type { TileAddress, TileStore } from '#src/data/tiles/tile-queries.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import { Cache } from '#src/lib/cache.ts'
import { createInterleaver, type InterleavedTile } from '#src/raster/tiles.ts'
import type { Position } from './queries.ts'
import { type NumberedCoverage, ReplacedMeanwhile, type StoredPixels } from './releases.ts'

/** Measured memory of a tile beside its pixels, with its share of the garbage. */
export const ENTRY_BYTES = 800

/** The pixels belong to the tile alone. */
type Tile = Pick<InterleavedTile, 'width' | 'bands' | 'pixels'>

const NO_TILE: InterleavedTile = { width: 0, bands: 0, start: 0, pixels: new Float32Array(0), length: 0 }

export type TileCache = ReturnType<typeof createTileCache>

/** Caches tiles by key, bounded in bytes; the next `set` may overwrite the pixels of an evicted tile. */
export function createTileCache(limitBytes: number) {
  /** A buffer of each size, of evicted tiles: garbage would take memory beside the limit. */
  const spare = new Map<number, ArrayBufferLike>()
  let evicted = 0
  const cache = new Cache<number, Tile>('tiles', {
    maxSize: Math.max(1, limitBytes),
    sizeOf: ({ pixels }) => ENTRY_BYTES + pixels.byteLength,
    onRemoved({ pixels }) {
      evicted++
      spare.set(pixels.byteLength, pixels.buffer)
    },
  })
  return {
    get: (key: number) => cache.get(key),
    peek: (key: number) => cache.peek(key),
    /** Stores a copy. */
    set(key: number, { width, bands, start, pixels: from, length }: InterleavedTile): Tile {
      const bytes = length * from.BYTES_PER_ELEMENT
      const buffer = spare.get(bytes) ?? new ArrayBuffer(bytes)
      spare.delete(bytes)
      const pixels = from instanceof Float64Array ? new Float64Array(buffer) : new Float32Array(buffer)
      pixels.set(from.subarray(start, start + length))
      const tile = { width, bands, pixels }
      cache.set(key, tile)
      return tile
    },
    state() {
      const { entries, hits, misses } = cache.statistics()
      return { tiles: entries, bytes: cache.size, limitBytes, hits, misses, evicted }
    },
  }
}

export interface PixelIndex {
  /** Of the tile. */
  key: number
  column: number
  row: number
}

interface NumberedTile extends TileAddress {
  key: number
}

/** The pixel of a position; null outside the grid. */
export function findPixel(coverage: NumberedCoverage, { longitude, latitude }: Position): PixelIndex | null {
  const x = (longitude - coverage.originX) / coverage.pixelWidth
  const y = (latitude - coverage.originY) / coverage.pixelHeight
  if (!(x >= 0 && x < coverage.width && y >= 0 && y < coverage.height)) return null
  return makePixelIndex(coverage, Math.floor(x), Math.floor(y))
}

/** The pixel of a column and row of the grid. */
export function makePixelIndex(coverage: NumberedCoverage, column: number, row: number): PixelIndex {
  const { tileSize } = coverage
  const tileColumn = Math.floor(column / tileSize)
  const tileRow = Math.floor(row / tileSize)
  return {
    key: coverage.firstTile + tileRow * coverage.tileColumns + tileColumn,
    column: column % tileSize,
    row: row % tileSize,
  }
}

function locateTile({ id, firstTile, tileColumns }: NumberedCoverage, key: number): NumberedTile {
  const tile = key - firstTile
  return { key, coverageId: id, row: Math.floor(tile / tileColumns), column: tile % tileColumns }
}

/** Tiles have some kilobytes each, and their hexadecimal digits are decoded in the event loop. */
const TILES_PER_QUERY = 100

/** Pixels without a tile. */
export const NOTHING: StoredPixels = []

/** Loads tiles of a store into a cache. */
export function createTileLoader(store: TileStore, cache: TileCache, concurrency: number) {
  const interleave = createInterleaver()
  const askTile = createBatcher({
    concurrency,
    failsAll: isDatabaseUnavailable,
    run: (tiles: NumberedTile[]) => store.find(tiles),
    batch: TILES_PER_QUERY,
    keyOf: ({ key }) => key,
  })

  return {
    /**
     * Reads a pixel of a missing tile; concurrent requests share one query.
     *
     * @throws {ReplacedMeanwhile} where the coverage was deleted
     */
    async read(coverage: NumberedCoverage, place: PixelIndex): Promise<StoredPixels> {
      const { key } = place
      const bytes = requireExisting(await askTile(locateTile(coverage, key)))
      const read = () => cache.set(key, bytes.length === 0 ? NO_TILE : interleave(bytes))
      // The first of concurrent requests has stored it.
      return pixelIn(cache.peek(key) ?? read(), place)
    },
    state: askTile.state,
  }
}

/** @param found null where it was deleted */
export function requireExisting<Found>(found: Found | null): Found {
  if (found === null) throw new ReplacedMeanwhile()
  return found
}

/** Empty without a tile. */
export function pixelIn({ width, bands, pixels }: Tile, { column, row }: PixelIndex): StoredPixels {
  const from = (row * width + column) * bands
  const values: StoredPixels = []
  for (let at = from; at < from + bands; at++) values.push(pixels[at] as number)
  return values
}
