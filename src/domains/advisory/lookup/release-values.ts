import type { Database } from '#src/database/client.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { createTileStores } from '#src/tiles/stores.ts'
import { createPixelReader } from './pixels.ts'
import { createNumbering } from './published-release.ts'
import { findReleases, type Position } from './queries.ts'
import { ReplacedMeanwhile } from './replaced.ts'
import { type PlacedLayer, type StoredPixels, valuesOf } from './values.ts'

/** So many positions are read at a time. */
const PIECE = 5000

/** What a layer of a release has at a position. */
export interface ReleaseValue {
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
