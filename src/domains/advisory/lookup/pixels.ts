import type { Kysely } from 'kysely'
import { isDatabaseUnavailable } from '#src/database/failures.ts'
import type { Tables } from '#src/database/tables.ts'
import { type BatcherState, createBatcher } from '#src/lib/batcher.ts'
import type { Party } from '#src/lib/fair-line.ts'
import type { NumberedCoverage } from './published-release.ts'
import { findPixels, type Position } from './queries.ts'
import { createTileCache, type TileCache, type TileCacheState } from './tile-cache.ts'
import { createTileLoader, existing, NOTHING, pixelIn, type TileOfCoverage } from './tile-loader.ts'
import { placeIn } from './tile-places.ts'
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
  /**
   * Reads tiles into memory before somebody asks for them. Those of a coverage that has been deleted are left out,
   * and those that the database finds pixels in.
   *
   * @returns the bytes that they take
   */
  readAhead(tiles: TileOfCoverage[]): Promise<number>
  /** How often the tiles in memory have been asked for. */
  uses: Pick<TileCache, 'used' | 'counted'>
  state(): PixelReaderState
}

export interface PixelReaderState {
  cache: TileCacheState
  /** What is asked of the database. */
  pixels: BatcherState
  tiles: BatcherState
}

/** The longitudes and latitudes that need no transformation. */
const WGS84 = 4326

/** Pixels a query: some milliseconds' worth, so that nobody waits long for the query before theirs. */
const PIXELS_PER_QUERY = 1000

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
  const askPixels = createBatcher({
    concurrency,
    failsAll: isDatabaseUnavailable,
    run: (pixels: Parameters<typeof findPixels>[1]) => findPixels(db, pixels),
    batch: PIXELS_PER_QUERY,
  })
  const loader = createTileLoader(db, cache, concurrency)

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
      return tile === undefined ? loader.read(coverage, place, party) : pixelIn(tile, place)
    },
    readAhead: (tiles) => loader.readAhead(tiles.filter(({ coverage }) => !isReadInDatabase(coverage))),
    uses: cache,
    state: () => ({ cache: cache.state(), pixels: askPixels.state(), tiles: loader.state() }),
  }
}
