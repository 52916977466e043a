import { type FailureSources, findAlsoAtPrimary, isDatabaseUnavailable } from '#src/data/failures.ts'
import type { Db } from '#src/data/tables.ts'
import {
  mapStores,
  requireStore,
  type TileAddress,
  type TileStore,
  type TileStores,
} from '#src/data/tiles/store.ts'
import { ReplacedMeanwhile } from '#src/errors.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import { Cache } from '#src/lib/cache.ts'
import { findCell } from '#src/raster/grid.ts'
import { createInterleaver, type InterleavedTile } from '#src/raster/tiles.ts'
import type { StoredPixels } from './entries.ts'
import type { Position } from './layers.ts'
import { findCells, findPixels, type PixelAddress } from './queries.ts'
import type { NumberedCoverage } from './releases.ts'

/** Measured memory of a tile beside its pixels. */
export const ENTRY_BYTES = 500

/** The same where there is no tile: one object is in all these entries. */
export const EMPTY_ENTRY_BYTES = 250

/** The pixels belong to the tile alone. */
type Tile = Pick<InterleavedTile, 'width' | 'bands' | 'pixels'>

const NO_TILE: Tile = { width: 0, bands: 0, pixels: new Float32Array(0) }

type TileCache = ReturnType<typeof createTileCache>

/** Caches tiles by key, bounded in bytes; the next `set` may overwrite the pixels of an evicted tile. */
export function createTileCache(limitBytes: number) {
  /** A buffer of each size, of evicted tiles: garbage would take memory beside the limit. */
  const spare = new Map<number, ArrayBufferLike>()
  let evicted = 0
  const cache = new Cache<number, Tile>('tiles', {
    maxSize: Math.max(1, limitBytes),
    sizeOf: (tile) => (tile === NO_TILE ? EMPTY_ENTRY_BYTES : ENTRY_BYTES + tile.pixels.byteLength),
    onRemoved(tile) {
      evicted++
      if (tile !== NO_TILE) spare.set(tile.pixels.byteLength, tile.pixels.buffer)
    },
  })

  /** Of pixels that the next tile overwrites. */
  function copy({ width, bands, start, pixels: from, length }: InterleavedTile): Tile {
    const bytes = length * from.BYTES_PER_ELEMENT
    const buffer = spare.get(bytes) ?? new ArrayBuffer(bytes)
    spare.delete(bytes)
    const pixels = from instanceof Float64Array ? new Float64Array(buffer) : new Float32Array(buffer)
    pixels.set(from.subarray(start, start + length))
    return { width, bands, pixels }
  }

  return {
    get: (key: number) => cache.get(key),
    peek: (key: number) => cache.peek(key),
    /** @param found null where there is no tile */
    set(key: number, found: InterleavedTile | null): Tile {
      const tile = found === null ? NO_TILE : copy(found)
      cache.set(key, tile)
      return tile
    },
    state() {
      const { entries, hits, misses } = cache.statistics()
      return { tiles: entries, bytes: cache.size, limitBytes, hits, misses, evicted }
    },
  }
}

interface PixelIndex {
  key: number
  column: number
  row: number
}

type NumberedTile = TileAddress & { key: number }

/** The pixel of a position; null outside the grid. */
function findPixel(coverage: NumberedCoverage, { longitude, latitude }: Position): PixelIndex | null {
  const cell = findCell(coverage, longitude, latitude)
  return cell && makePixelIndex(coverage, cell.column, cell.row)
}

/** The pixel of a column and row of the grid. */
function makePixelIndex(coverage: NumberedCoverage, column: number, row: number): PixelIndex {
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

/** Tiles have some kilobytes each, and are decoded in the event loop. */
const TILES_PER_QUERY = 100

const NOTHING: StoredPixels = []

/** Loads tiles of a store into a cache. */
function createTileLoader(store: TileStore, cache: TileCache, concurrency: number) {
  const interleave = createInterleaver()
  const askTile = createBatcher({
    concurrency,
    failsAll: isDatabaseUnavailable,
    run: (tiles: NumberedTile[]) => store.find(tiles),
    batch: TILES_PER_QUERY,
    keyOf: ({ key }) => key,
  })

  return {
    /** Concurrent requests share one query. @throws {ReplacedMeanwhile} where the coverage was deleted */
    async read(coverage: NumberedCoverage, pixel: PixelIndex): Promise<StoredPixels> {
      const { key } = pixel
      const bytes = requireExisting(await askTile(locateTile(coverage, key)))
      // The first of concurrent requests has stored it.
      const tile = cache.peek(key) ?? cache.set(key, bytes.length === 0 ? null : interleave(bytes))
      return pixelIn(tile, pixel)
    },
    state: askTile.state,
  }
}

/** @param found null where it was deleted */
function requireExisting<Found>(found: Found | null): Found {
  if (found === null) throw new ReplacedMeanwhile()
  return found
}

/** Empty without a tile. */
function pixelIn({ width, bands, pixels }: Tile, { column, row }: PixelIndex): StoredPixels {
  const from = (row * width + column) * bands
  const values: StoredPixels = []
  for (let at = from; at < from + bands; at++) values.push(pixels[at] as number)
  return values
}

interface PixelReaderOptions {
  /** Bytes of tiles in memory; 0 for none. */
  cacheBytes: number
  concurrency: number
}

export type PixelReader = ReturnType<typeof createPixelReader>

/** The longitudes and latitudes that need no transformation. */
const WGS84 = 4326

/** Pixels of a query: some milliseconds, so that the next query waits shortly. */
const PIXELS_PER_QUERY = 1000

/**
 * Reads pixels at positions. On a grid of longitudes and latitudes the pixel is found here, with the operations of the SQL
 * function coverage_cell, and read from its tile. On other grids the database transforms the position, and reads the pixel
 * by ST_Value where it has the tiles; without a cache it does so on each grid.
 */
export function createPixelReader(
  source: FailureSources<Db>,
  tiles: TileStores,
  { cacheBytes, concurrency }: PixelReaderOptions,
) {
  const cache = createTileCache(cacheBytes)
  const ask = { concurrency, failsAll: isDatabaseUnavailable, batch: PIXELS_PER_QUERY }
  const askPixels = createBatcher({
    ...ask,
    run: (pixels: PixelAddress[]) => findAlsoAtPrimary(source, pixels, findPixels),
  })
  const askCells = createBatcher({
    ...ask,
    run: (pixels: PixelAddress[]) => findAlsoAtPrimary(source, pixels, findCells),
  })
  // Slow files do not delay tiles of the database.
  const loaders = mapStores(tiles, (store) => createTileLoader(store, cache, concurrency))

  /** Whether a pixel in memory needs no database. */
  const isFoundHere = (coverage: NumberedCoverage) => cacheBytes > 0 && coverage.srid === WGS84

  async function locatePixel(coverage: NumberedCoverage, position: Position): Promise<PixelIndex | null> {
    if (coverage.srid === WGS84) return findPixel(coverage, position)
    const cell = requireExisting(await askCells({ coverageId: coverage.id, ...position }))
    return cell ? makePixelIndex(coverage, cell.column, cell.row) : null
  }

  return {
    /** Undefined for a miss. */
    fromMemory(coverage: NumberedCoverage, position: Position): StoredPixels | undefined {
      if (!isFoundHere(coverage)) return undefined
      const pixel = findPixel(coverage, position)
      if (pixel === null) return NOTHING
      const tile = cache.get(pixel.key)
      return tile && pixelIn(tile, pixel)
    },
    /** @throws {ReplacedMeanwhile} where the coverage was deleted */
    async read(coverage: NumberedCoverage, position: Position): Promise<StoredPixels> {
      if (coverage.store === 'postgis' && !isFoundHere(coverage))
        return requireExisting(await askPixels({ coverageId: coverage.id, ...position }))
      const pixel = await locatePixel(coverage, position)
      if (pixel === null) return NOTHING
      const tile = cache.get(pixel.key)
      return tile ? pixelIn(tile, pixel) : requireStore(loaders, coverage.store).read(coverage, pixel)
    },
    state: () => ({
      cache: cache.state(),
      pixels: askPixels.state(),
      /** Pixels of projected grids with tiles in files. */
      cells: askCells.state(),
      loaders: mapStores(loaders, ({ state }) => state()),
    }),
  }
}
