import type { Database } from '#src/database/client.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { deleteRelease, insertRelease, markReady, publishRelease } from '#src/domains/releases/queries.ts'
import { OperatorError } from '#src/errors.ts'
import type { Extent } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { SummaryPyramid } from '#src/raster/pyramid.ts'
import { tilesOf } from '#src/raster/tiles.ts'
import { extentOf, insertCoverage, insertLayers, isGeographic, markSummarised } from './queries.ts'
import { type CoverageSource, compareLayers, type LayerSource, type ReleaseSource } from './source.ts'
import { type LayerStatistics, layerCollector, type Statistics, suspicionOf } from './statistics.ts'
import { writingSummaries, writingTiles } from './tile-queries.ts'

/** Told how much of a release is done, from 0 to 1. */
export type Progress = (done: number) => void

export interface LoadedRelease {
  code: string
  tiles: number
  /** The code of the release it took the place of. */
  replaced: string | undefined
  /** What looks wrong in the values. */
  warnings: string[]
}

/**
 * Loads a release and publishes it.
 *
 * The tiles are written under a release in the state `loading`, which no request reads; at the end one
 * transaction completes and publishes it. After an error nothing of it is left. After a kill the
 * release stays in that state and can be deleted.
 */
export async function loadRelease(
  database: Database,
  source: ReleaseSource,
  { publish = true, progress = () => {} }: { publish?: boolean; progress?: Progress } = {},
): Promise<LoadedRelease> {
  const { writer } = database
  const coverages: { coverage: CoverageSource; extent: Extent }[] = []
  for (const coverage of source.coverages) {
    coverages.push({ coverage, extent: await extentOrRefuse(database, coverage) })
  }

  const release = await insertRelease(writer, source.description)
  try {
    const ordinals = ordinalsOf(source)
    const advance = progressOver(source, progress)
    const warnings: string[] = []
    let tiles = 0
    for (const { coverage, extent } of coverages) {
      const id = await insertCoverage(writer, release.id, coverage.grid, extent)
      const written = await writeTiles(database, id, coverage, advance)
      await markSummarised(writer, id)
      await insertLayers(writer, release.id, id, written.layers, ordinals)
      tiles += written.tiles
      for (const { layer, statistics } of written.layers) {
        const suspicion = suspicionOf(layer.origin, statistics)
        if (suspicion) warnings.push(suspicion)
      }
    }
    const replaced = await inTransaction(writer, async (trx) => {
      await markReady(trx, release.id)
      return publish ? await publishRelease(trx, release.code) : undefined
    })
    return { code: release.code, tiles, replaced, warnings }
  } catch (error) {
    await inTransaction(writer, (trx) => deleteRelease(trx, release.code, true))
    throw error
  }
}

/** Reads every pixel of a release, writes nothing, and answers with the statistics of its layers. */
export async function examineRelease(
  source: ReleaseSource,
  progress: Progress = () => {},
): Promise<Map<LayerSource, Statistics>> {
  const advance = progressOver(source, progress)
  const result = new Map<LayerSource, Statistics>()
  for (const coverage of source.coverages) {
    const collector = layerCollector(coverage.layers)
    for (const window of coverage.windows) {
      collector.add(await coverage.read(window))
      advance(window.width * window.height)
    }
    for (const { layer, statistics } of collector.result()) result.set(layer, statistics)
  }
  return result
}

export async function extentOrRefuse(database: Database, coverage: CoverageSource): Promise<Extent> {
  const { grid, layers } = coverage
  const extent = await extentOf(database.writer, grid).catch(() => undefined)
  if (!extent || !liesOnEarth(extent, coverage)) {
    throw new OperatorError(
      `${layers[0]?.origin} has a grid that does not lie on the Earth in EPSG:${grid.srid}: is that its CRS?`,
    )
  }
  return extent
}

/** Pixels whose centres lie on a pole, or on the longitude where the Earth ends, reach beyond it. */
function liesOnEarth({ west, south, east, north }: Extent, { grid }: CoverageSource): boolean {
  const latitudes = 90 + Math.abs(grid.pixelHeight)
  return (
    [west, south, east, north].every(Number.isFinite) &&
    Math.max(-south, north) <= latitudes &&
    Math.max(-west, east) <= 540
  )
}

function ordinalsOf(source: ReleaseSource): Map<LayerSource, number> {
  const layers = source.coverages.flatMap(({ layers }) => layers).sort(compareLayers)
  return new Map(layers.map((layer, index) => [layer, index + 1]))
}

function progressOver(source: ReleaseSource, progress: Progress): (pixels: number) => void {
  const total = source.coverages.reduce((sum, { grid }) => sum + grid.width * grid.height, 0)
  let done = 0
  return (pixels) => {
    done += pixels
    progress(done / total)
  }
}

async function writeTiles(
  database: Database,
  coverageId: number,
  coverage: CoverageSource,
  advance: (pixels: number) => void,
): Promise<{ tiles: number; layers: LayerStatistics[] }> {
  const { grid, layers } = coverage
  const collector = layerCollector(layers)
  const geographic = await isGeographic(database.writer, grid.srid)
  const pyramid = new SummaryPyramid(grid, geographic)
  const tiles = await writingTiles(database, coverageId, (writeTile) =>
    writingSummaries(database, coverageId, async (writeBlock) => {
      let count = 0
      for (const window of coverage.windows) {
        const pixels = await coverage.read(window)
        collector.add(pixels)
        for (const tile of tilesOf(grid, layers, window, pixels)) {
          await writeTile(tile)
          count++
        }
        const bands = layers.map(({ nodata }, index) => ({ pixels: pixels[index] as Pixels, nodata }))
        for (const block of pyramid.add(window, bands)) await writeBlock(block)
        advance(window.width * window.height)
      }
      for (const block of pyramid.finish()) await writeBlock(block)
      return count
    }),
  )
  return { tiles, layers: collector.result() }
}
