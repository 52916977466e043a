import type { Kysely } from 'kysely'
import { isDatabaseUnavailable } from '#src/database/failures.ts'
import type { Tables } from '#src/database/tables.ts'
import { type BatcherState, createBatcher } from '#src/lib/batcher.ts'
import type { Party } from '#src/lib/fair-line.ts'
import { createInterleaver, type InterleavedTile } from '#src/raster/interleave.ts'
import type { NumberedCoverage } from './published-release.ts'
import { findPixels, findTiles, type Position, type TileAddress } from './queries.ts'
import { ReplacedMeanwhile } from './replaced.ts'
import { createTileCache, type TileCacheState } from './tile-cache.ts'
import type { StoredPixels } from './values.ts'

export interface PixelReaderOptions {
  /** Bytes of tiles that are kept in memory; 0 for none. */
  cacheBytes: number
  /** Queries that may be under way at the same time. */
  concurrency: number
}

/** Reads the pixel of a coverage that a position lies in. */
export interface PixelReader {
  /** From memory alone; undefined where the database has to be asked. */
  fromMemory(coverage: NumberedCoverage, position: Position): StoredPixels | undefined
  /**
   * The same; what is not in memory is asked of the database, for all who ask meanwhile in one query.
   *
   * @param party who waits for it: where one query is not enough, those who wait take turns
   * @throws {ReplacedMeanwhile} where the coverage has been deleted
   */
  read(coverage: NumberedCoverage, position: Position, party?: Party): Promise<StoredPixels>
  state(): PixelReaderState
}

export interface PixelReaderState {
  cache: TileCacheState
  /** What is asked of the database. */
  pixels: BatcherState
  tiles: BatcherState
}

/** Who waits for a tile, and for which of its pixels. */
interface Waiting {
  place: PixelPlace
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
): PixelReader {
  const cache = createTileCache(cacheBytes)
  const interleave = createInterleaver()
  const loading = new Map<number, Waiting[]>()
  const common = { concurrency, failsAll: isDatabaseUnavailable }
  const askPixels = createBatcher({
    ...common,
    run: (pixels: Parameters<typeof findPixels>[1]) => findPixels(db, pixels),
    batch: PIXELS_PER_QUERY,
  })
  const askTile = createBatcher({
    ...common,
    run: (tiles: NumberedTile[]) => findTiles(db, tiles),
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

  async function load(key: number, asked: Promise<Buffer | null>): Promise<void> {
    try {
      const bytes = existing(await asked)
      const tile = bytes.length === 0 ? null : interleave(bytes)
      cache.set(key, tile)
      for (const { place, resolve } of takeWaiting(key)) resolve(pixelIn(tile, place))
    } catch (error) {
      for (const { reject } of takeWaiting(key)) reject(error)
    }
  }

  function takeWaiting(key: number): Waiting[] {
    const waiting = loading.get(key) ?? []
    loading.delete(key)
    return waiting
  }

  /** Whether the database finds the pixels of a coverage, and not this process. */
  const isReadInDatabase = (coverage: NumberedCoverage) => cacheBytes === 0 || coverage.srid !== WGS84

  return {
    fromMemory(coverage, position) {
      if (isReadInDatabase(coverage)) return undefined
      const place = placeIn(coverage, position)
      if (place === null) return NOTHING
      const tile = cache.get(place.key)
      return tile === undefined ? undefined : pixelIn(tile, place)
    },
    async read(coverage, position, party) {
      if (isReadInDatabase(coverage))
        return existing(await askPixels({ coverageId: coverage.id, ...position }, party))
      const place = placeIn(coverage, position)
      if (place === null) return NOTHING
      const tile = cache.get(place.key)
      return tile === undefined ? readWhenLoaded(coverage, place, party) : pixelIn(tile, place)
    },
    state: () => ({ cache: cache.state(), pixels: askPixels.state(), tiles: askTile.state() }),
  }
}

/** What the database has found: null of what is not there any more. */
function existing<Found>(found: Found | null): Found {
  if (found === null) throw new ReplacedMeanwhile()
  return found
}

/** A pixel of a tile, and the number of the tile. */
interface PixelPlace {
  key: number
  column: number
  row: number
}

/** Where the pixel is that a position lies in; null where that is not on the grid. */
function placeIn(coverage: NumberedCoverage, { longitude, latitude }: Position): PixelPlace | null {
  const x = (longitude - coverage.originX) / coverage.pixelWidth
  const y = (latitude - coverage.originY) / coverage.pixelHeight
  if (!(x >= 0 && x < coverage.width && y >= 0 && y < coverage.height)) return null
  const { tileSize } = coverage
  const column = Math.floor(x)
  const row = Math.floor(y)
  const tileColumn = Math.floor(column / tileSize)
  const tileRow = Math.floor(row / tileSize)
  return {
    key: coverage.firstTile + tileRow * coverage.tileColumns + tileColumn,
    column: column % tileSize,
    row: row % tileSize,
  }
}

/** A tile by its number, and what it is called in the database. */
interface NumberedTile extends TileAddress {
  key: number
}

function tileOf({ id, firstTile, tileColumns }: NumberedCoverage, key: number): NumberedTile {
  const tile = key - firstTile
  return { key, coverageId: id, row: Math.floor(tile / tileColumns), column: tile % tileColumns }
}

function pixelIn(tile: InterleavedTile | null, { column, row }: PixelPlace): StoredPixels {
  if (tile === null) return NOTHING
  const { width, bands, start, pixels } = tile
  const from = start + (row * width + column) * bands
  const values: StoredPixels = []
  for (let at = from; at < from + bands; at++) values.push(pixels[at] as number)
  return values
}
