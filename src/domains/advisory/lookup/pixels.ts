import type { Kysely } from 'kysely'
import { isDatabaseUnavailable } from '#src/database/failures.ts'
import type { Tables } from '#src/database/tables.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import { type InterleavedTile, interleave } from '#src/raster/interleave.ts'
import { findPixels, findTiles, type Position, type TileAddress } from './queries.ts'
import type { NumberedCoverage } from './snapshot.ts'
import { createTileCache } from './tile-cache.ts'

/** The pixel of each band as it is stored, NaN for none; no bands where nothing is stored. */
export type StoredPixels = number[]

export interface PixelReaderOptions {
  /** Bytes of tiles that are kept in memory; 0 for none. */
  cacheBytes: number
  /** Queries that may be under way at the same time. */
  concurrency: number
}

/**
 * Reads the pixel of a coverage that a position lies in: at once where its tile is in memory. Otherwise
 * the database is asked, for all who ask meanwhile in one query.
 *
 * @throws {CoverageGone} (the promise) where the coverage has been deleted
 */
export type ReadPixels = (
  coverage: NumberedCoverage,
  position: Position,
) => StoredPixels | Promise<StoredPixels>

/** The coverage has been deleted since it was published: something else has taken its place. */
export class CoverageGone extends Error {
  override name = 'CoverageGone'
}

/** Who waits for a tile, and for which of its pixels. */
interface Waiting {
  column: number
  row: number
  resolve(pixels: StoredPixels): void
  reject(error: unknown): void
}

/** The longitudes and latitudes that need no transformation. */
const WGS84 = 4326

/** Pixels a query: some milliseconds' worth, so that nobody waits long for the query before theirs. */
const PIXELS_PER_QUERY = 1000

/** Tiles are some kilobytes each, and are decoded from hexadecimal digits while everyone waits. */
const TILES_PER_QUERY = 100

const NOTHING: StoredPixels = []

/**
 * Makes the reader of a database.
 *
 * On a grid of longitudes and latitudes the pixel is found here, with the same operations on the same
 * numbers as in the SQL function coverage_cell, and read from the tile. On others the database
 * transforms the position, and reads the pixel by ST_Value; so it does everywhere without a cache.
 */
export function createPixelReader(
  db: Kysely<Tables>,
  { cacheBytes, concurrency }: PixelReaderOptions,
): ReadPixels {
  const cache = createTileCache(cacheBytes)
  const loading = new Map<number, Waiting[]>()
  const common = { concurrency, failsAll: isDatabaseUnavailable }
  const askPixels = createBatcher({
    ...common,
    run: (pixels: Parameters<typeof findPixels>[1]) => findPixels(db, pixels),
    batch: PIXELS_PER_QUERY,
  })
  const askTile = createBatcher({
    ...common,
    run: (tiles: TileAddress[]) => findTiles(db, tiles),
    batch: TILES_PER_QUERY,
  })

  /** However many ask for a tile, the database is asked once. */
  function readWhenLoaded(
    key: number,
    address: TileAddress,
    column: number,
    row: number,
  ): Promise<StoredPixels> {
    return new Promise((resolve, reject) => {
      const waiting = { column, row, resolve, reject }
      const others = loading.get(key)
      if (others) others.push(waiting)
      else {
        loading.set(key, [waiting])
        void load(key, address)
      }
    })
  }

  async function load(key: number, address: TileAddress): Promise<void> {
    try {
      const bytes = await askTile(address)
      if (bytes === null) throw new CoverageGone()
      const tile = bytes.length === 0 ? null : interleave(bytes)
      cache.set(key, tile)
      for (const { column, row, resolve } of takeWaiting(key)) resolve(pixelIn(tile, column, row))
    } catch (error) {
      for (const { reject } of takeWaiting(key)) reject(error)
    }
  }

  function takeWaiting(key: number): Waiting[] {
    const waiting = loading.get(key) ?? []
    loading.delete(key)
    return waiting
  }

  async function readInDatabase(coverageId: number, position: Position): Promise<StoredPixels> {
    const pixels = await askPixels({ coverageId, ...position })
    if (pixels === null) throw new CoverageGone()
    return pixels
  }

  return (coverage, position) => {
    const { id, tileSize } = coverage
    if (cacheBytes === 0 || coverage.srid !== WGS84) return readInDatabase(id, position)
    const x = (position.longitude - coverage.originX) / coverage.pixelWidth
    const y = (position.latitude - coverage.originY) / coverage.pixelHeight
    if (!(x >= 0 && x < coverage.width && y >= 0 && y < coverage.height)) return NOTHING
    const column = Math.floor(x)
    const row = Math.floor(y)
    const tileColumn = Math.floor(column / tileSize)
    const tileRow = Math.floor(row / tileSize)
    const key = coverage.firstTile + tileRow * coverage.tileColumns + tileColumn
    const known = cache.get(key)
    if (known !== undefined) return pixelIn(known, column % tileSize, row % tileSize)
    const address = { coverageId: id, row: tileRow, column: tileColumn }
    return readWhenLoaded(key, address, column % tileSize, row % tileSize)
  }
}

function pixelIn(tile: InterleavedTile | null, column: number, row: number): StoredPixels {
  if (tile === null) return NOTHING
  const { width, bands, start, pixels } = tile
  const from = start + (row * width + column) * bands
  const values: StoredPixels = []
  for (let at = from; at < from + bands; at++) values.push(pixels[at] as number)
  return values
}
