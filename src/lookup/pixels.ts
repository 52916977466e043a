import type { Kysely } from 'kysely'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Database } from '#src/data/client.ts'
import { type FailureSources, findAlsoAtPrimary, isDatabaseUnavailable } from '#src/data/failures.ts'
import type { Tables } from '#src/data/tables.ts'
import { createTileStores, type TileStores } from '#src/data/tiles/stores.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import { findCells, findPixels, findReleases, type PixelAddress, type Position } from './queries.ts'
import {
  assembleValues,
  createNumbering,
  type LayerOfCoverage,
  type NumberedCoverage,
  ReplacedMeanwhile,
  type StoredPixels,
} from './releases.ts'
import {
  createTileCache,
  createTileLoader,
  findPixel,
  makePixelIndex,
  NOTHING,
  type PixelIndex,
  pixelIn,
  requireExisting,
} from './tiles.ts'

interface PixelReaderOptions {
  /** Bytes of tiles in memory; 0 for none. */
  cacheBytes: number
  /** Queries at the same time. */
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
  source: FailureSources<Kysely<Tables>>,
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
  const loaders = {
    postgis: createTileLoader(tiles.postgis, cache, concurrency),
    files: createTileLoader(tiles.files, cache, concurrency),
  }

  /** Whether a pixel in memory needs no database. */
  const isFoundHere = (coverage: NumberedCoverage) => cacheBytes > 0 && coverage.srid === WGS84

  const isReadInDatabase = (coverage: NumberedCoverage) =>
    coverage.store === 'postgis' && !isFoundHere(coverage)

  async function placeOn(coverage: NumberedCoverage, position: Position): Promise<PixelIndex | null> {
    if (coverage.srid === WGS84) return findPixel(coverage, position)
    const cell = requireExisting(await askCells({ coverageId: coverage.id, ...position }))
    return cell ? makePixelIndex(coverage, cell.column, cell.row) : null
  }

  return {
    /** Undefined for a miss. */
    fromMemory(coverage: NumberedCoverage, position: Position): StoredPixels | undefined {
      if (!isFoundHere(coverage)) return undefined
      const place = findPixel(coverage, position)
      if (place === null) return NOTHING
      const tile = cache.get(place.key)
      return tile && pixelIn(tile, place)
    },
    /** @throws {ReplacedMeanwhile} where the coverage was deleted */
    async read(coverage: NumberedCoverage, position: Position): Promise<StoredPixels> {
      if (isReadInDatabase(coverage))
        return requireExisting(await askPixels({ coverageId: coverage.id, ...position }))
      const place = await placeOn(coverage, position)
      if (place === null) return NOTHING
      const tile = cache.get(place.key)
      return tile ? pixelIn(tile, place) : loaders[coverage.store].read(coverage, place)
    },
    state: () => ({
      cache: cache.state(),
      pixels: askPixels.state(),
      /** Pixels of projected grids with tiles in files. */
      cells: askCells.state(),
      tiles: loaders.postgis.state(),
      /** Tiles in files. */
      granules: loaders.files.state(),
    }),
  }
}

/** Positions at a time. */
const PIECE = 5000

interface ReleaseValue {
  scenario: string | null
  value: number
}

/**
 * The layers of a release with a value at each position, in the order of positions.
 *
 * @throws {ReplacedMeanwhile} where the release was deleted
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

function withValues(layers: LayerOfCoverage[], pixels: StoredPixels[]): ReleaseValue[] {
  const found = assembleValues(layers, pixels) ?? []
  return layers.flatMap(({ scenario }, index) => {
    const value = found[index] ?? Number.NaN
    return Number.isNaN(value) ? [] : [{ scenario, value }]
  })
}
