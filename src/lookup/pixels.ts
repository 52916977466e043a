import type { Kysely } from 'kysely'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Database } from '#src/data/client.ts'
import { findAlsoAtPrimary, isDatabaseUnavailable, type Sources } from '#src/data/failures.ts'
import type { Tables } from '#src/data/tables.ts'
import { createTileStores, type TileStores } from '#src/data/tiles/stores.ts'
import { type BatcherState, createBatcher } from '#src/lib/batcher.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { findCells, findPixels, findReleases, type PixelAddress, type Position } from './queries.ts'
import {
  createNumbering,
  type NumberedCoverage,
  type PlacedLayer,
  ReplacedMeanwhile,
  type StoredPixels,
  valuesOf,
} from './releases.ts'
import {
  createTileCache,
  createTileLoader,
  existing,
  NOTHING,
  type PixelPlace,
  pixelIn,
  placeIn,
  placeOf,
  type TileCache,
  type TileCacheState,
  type TileOfCoverage,
} from './tiles.ts'

interface PixelReaderOptions {
  /** Bytes of tiles that are kept in memory; 0 for none. */
  cacheBytes: number
  /** Queries that may be under way at the same time. */
  concurrency: number
}

/** The tiles in memory, how often they have been asked for, and how to be rid of them. */
export type TilesInMemory = Pick<TileCache, 'used' | 'counted' | 'keys' | 'forget'>

/** Reads the pixel of a coverage that a position lies in. */
export interface PixelReader {
  /** From memory alone; undefined where the database has to be asked. */
  fromMemory(coverage: NumberedCoverage, position: Position): StoredPixels | undefined
  /**
   * The same; what is not in memory is asked of the database, for all who ask meanwhile in one query.
   *
   * @param client key who waits for it: where one query is not enough, those who wait take turns
   * @throws {ReplacedMeanwhile} where the coverage has been deleted
   */
  read(coverage: NumberedCoverage, position: Position, clientKey?: ClientKey): Promise<StoredPixels>
  /**
   * Reads tiles into memory before somebody asks for them. Those of a coverage that has been deleted are left out,
   * and those that the database finds pixels in.
   */
  readAhead(tiles: TileOfCoverage[]): Promise<void>
  /** Those in memory. */
  tiles: TilesInMemory
  state(): PixelReaderState
}

export interface PixelReaderState {
  cache: TileCacheState
  /** What is asked of the database. */
  pixels: BatcherState
  /** Pixels that are looked for on projected grids, whose tiles are in files. */
  cells: BatcherState
  tiles: BatcherState
  /** Tiles in files. */
  granules: BatcherState
}

/** The longitudes and latitudes that need no transformation. */
const WGS84 = 4326

/** Pixels a query: some milliseconds' worth, so that nobody waits long for the query before theirs. */
const PIXELS_PER_QUERY = 1000

/**
 * Makes the reader of releases and their tiles.
 *
 * On a grid of longitudes and latitudes the pixel is found here, with the same operations on the same
 * numbers as in the SQL function coverage_cell, and read from the tile. On others the database
 * transforms the position, and reads the pixel by ST_Value, where it has the tiles; so it does everywhere without a cache.
 */
export function createPixelReader(
  source: Sources<Kysely<Tables>>,
  tiles: TileStores,
  { cacheBytes, concurrency }: PixelReaderOptions,
): PixelReader {
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
  // Each by itself: where files are slow, the database is not.
  const loaders = {
    postgis: createTileLoader(tiles.postgis, cache, concurrency),
    files: createTileLoader(tiles.files, cache, concurrency),
  }

  /** Whether a pixel is found by this process alone, once its tile is in memory. */
  const isFoundHere = (coverage: NumberedCoverage) => cacheBytes > 0 && coverage.srid === WGS84

  const isReadInDatabase = (coverage: NumberedCoverage) =>
    coverage.store === 'postgis' && !isFoundHere(coverage)

  async function placeOn(
    coverage: NumberedCoverage,
    position: Position,
    clientKey: ClientKey | undefined,
  ): Promise<PixelPlace | null> {
    if (coverage.srid === WGS84) return placeIn(coverage, position)
    const cell = existing(await askCells({ coverageId: coverage.id, ...position }, clientKey))
    return cell ? placeOf(coverage, cell.column, cell.row) : null
  }

  return {
    fromMemory(coverage, position) {
      if (!isFoundHere(coverage)) return undefined
      const place = placeIn(coverage, position)
      if (place === null) return NOTHING
      // Whoever reads it then counts that it was missing.
      const tile = cache.has(place.key) ? cache.get(place.key) : undefined
      return tile === undefined ? undefined : pixelIn(tile, place)
    },
    async read(coverage, position, clientKey) {
      if (isReadInDatabase(coverage))
        return existing(await askPixels({ coverageId: coverage.id, ...position }, clientKey))
      const place = await placeOn(coverage, position, clientKey)
      if (place === null) return NOTHING
      const tile = cache.get(place.key)
      return tile === undefined
        ? loaders[coverage.store].read(coverage, place, clientKey)
        : pixelIn(tile, place)
    },
    async readAhead(wanted) {
      await Promise.all(
        Object.entries(loaders).map(([store, loader]) =>
          loader.readAhead(
            wanted.filter(({ coverage }) => coverage.store === store && !isReadInDatabase(coverage)),
          ),
        ),
      )
    },
    tiles: cache,
    state: () => ({
      cache: cache.state(),
      pixels: askPixels.state(),
      cells: askCells.state(),
      tiles: loaders.postgis.state(),
      granules: loaders.files.state(),
    }),
  }
}

/** So many positions are read at a time. */
const PIECE = 5000

/** What a layer of a release has at a position. */
interface ReleaseValue {
  scenario: string | null
  value: number
}

/**
 * What a release has at positions, published or not, in their order: of each the layers with a value.
 *
 * @throws {ReplacedMeanwhile} where the release has been deleted
 */
export async function valuesInRelease(
  database: Database,
  product: ProductDefinition,
  releaseId: number,
  positions: readonly Position[],
): Promise<ReleaseValue[][]> {
  const [found] = await findReleases(database.writer, [releaseId])
  if (!found) throw new ReplacedMeanwhile()
  const release = createNumbering()(found, product)
  const pixels = createPixelReader(database, createTileStores(database), { cacheBytes: 0, concurrency: 1 })
  const values: ReleaseValue[][] = []
  for (let from = 0; from < positions.length; from += PIECE) {
    const stored = await Promise.all(
      positions
        .slice(from, from + PIECE)
        .map((position) => Promise.all(release.coverages.map((coverage) => pixels.read(coverage, position)))),
    )
    values.push(...stored.map((pixelsOfPoint) => withValues(release.layers, pixelsOfPoint)))
  }
  return values
}

function withValues(layers: PlacedLayer[], pixels: StoredPixels[]): ReleaseValue[] {
  const found = valuesOf(layers, pixels) ?? []
  return layers.flatMap(({ scenario }, index) => {
    const value = found[index] ?? Number.NaN
    return Number.isNaN(value) ? [] : [{ scenario, value }]
  })
}
