import { type BlockRun, columnsIn, largestBlocks, tileRowsOf } from '#src/raster/blocks.ts'
import { measureOf } from '#src/raster/pixel-area.ts'
import { decodeTile, type TileBand } from '#src/raster/raster-wkb.ts'
import { ellipsoidArea, type Rings } from '#src/raster/rings.ts'
import { addSummary, decodeSummary, emptySummary, type Summary, summaryOf } from '#src/raster/summary.ts'
import type { Computation } from './computing.ts'
import { placeOnCoverage } from './place-on-coverage.ts'
import { readSummaries, readTiles, SummariesGone, type ZonalCoverage } from './zonal-queries.ts'

/** What a layer comes to in a polygon, in the layer's unit. */
export interface LayerStatistics {
  mean: number
  minimum: number
  maximum: number
  /** The standard deviation of the population. */
  deviation: number
  /** The part of the polygon's area that has values, from 0 to 1. */
  covered: number
}

export interface ZonalStatistics {
  /** Of the polygon, on the ellipsoid. */
  areaHa: number
  /** In the order of the release's layers; null where a layer has no value in the polygon. */
  layers: (LayerStatistics | null)[]
}

const SQUARE_METRES_A_HECTARE = 10_000

/**
 * What the layers of a release come to in a polygon, each pixel weighed by the part of its area that the
 * polygon covers.
 *
 * The tiles on the border are read and looked at pixel by pixel; of what lies inside as a whole, the
 * summaries of the largest blocks are read. Both in chunks, so memory stays bounded.
 *
 * @param onSummariesGone called for each coverage that has lost its summaries, which is read tile by tile
 */
export async function zonalStatistics(
  computation: Computation,
  coverages: ZonalCoverage[],
  polygons: Rings[],
  onSummariesGone: () => void,
): Promise<ZonalStatistics> {
  const layers: (LayerStatistics | null)[] = []
  const areaHa = ellipsoidArea(polygons) / SQUARE_METRES_A_HECTARE
  await computation.pause()
  for (const coverage of coverages) {
    const { summaries, total } = await summariesIn(computation, coverage, polygons, onSummariesGone)
    coverage.bands.forEach(({ index, scale, offset }, position) => {
      const { weight, mean, squares, minimum, maximum } = summaries[position] as Summary
      if (weight === 0) {
        layers[index] = null
        return
      }
      const ends = [minimum * scale + offset, maximum * scale + offset] as const
      layers[index] = {
        mean: mean * scale + offset,
        minimum: Math.min(...ends),
        maximum: Math.max(...ends),
        deviation: Math.sqrt(squares / weight) * Math.abs(scale),
        covered: Math.min(1, weight / total),
      }
    })
  }
  return { areaHa, layers }
}

/** Tiles that are read with one statement: half a megabyte where a tile has one Float32 band. */
const TILES_A_CHUNK = 512

/** Runs of blocks whose summaries are read with one statement. */
const RUNS_A_CHUNK = 1024

/** The summaries of a coverage's bands in a polygon, and the area of the polygon in the same measure. */
interface CoverageSummaries {
  summaries: Summary[]
  total: number
}

async function summariesIn(
  computation: Computation,
  coverage: ZonalCoverage,
  polygons: Rings[],
  onSummariesGone: () => void,
): Promise<CoverageSummaries> {
  try {
    return await addUp(computation, coverage, polygons)
  } catch (error) {
    if (!(error instanceof SummariesGone)) throw error
    onSummariesGone()
    return addUp(computation, { ...coverage, summarised: false }, polygons)
  }
}

async function addUp(
  computation: Computation,
  coverage: ZonalCoverage,
  polygons: Rings[],
): Promise<CoverageSummaries> {
  const { ask, pause } = computation
  const { id, width, height, tileSize, geographic, bands } = coverage
  const summaries = bands.map(emptySummary)
  const placed = await placeOnCoverage(ask, coverage, polygons)
  await pause()
  const measure = measureOf(coverage, geographic)
  const columns = Math.ceil(width / tileSize)
  let border: { row: number; column: number; areas: Float64Array }[] = []
  const inside = new Map<number, number[]>()
  let area = 0

  for (const found of tileRowsOf(placed, coverage, measure)) {
    await pause()
    if (!found) continue
    area += found.area
    for (const [column, areas] of found.border) border.push({ row: found.row, column, areas })
    if (coverage.summarised) {
      if (found.inside.length > 0) inside.set(found.row, found.inside)
    } else {
      for (const column of columnsIn(found.inside)) {
        border.push({ row: found.row, column, areas: wholeTile(found.row) })
        if (border.length >= TILES_A_CHUNK) await addBorder()
      }
    }
    if (border.length >= TILES_A_CHUNK) await addBorder()
  }
  await addBorder()
  const blocks = largestBlocks(inside, columns, Math.ceil(height / tileSize))
  for (let at = 0; at < blocks.length; at += RUNS_A_CHUNK) {
    await addBlocks(blocks.slice(at, at + RUNS_A_CHUNK))
  }
  // The sum of the parts is as exact as the parts; only what lies beside the grid is not among them.
  return { summaries, total: (placed.within ? area : placed.area) / placed.share }

  async function addBorder(): Promise<void> {
    const tiles = new Map(border.map((tile) => [tile.row * columns + tile.column, tile.areas]))
    for (let at = 0; at < border.length; at += TILES_A_CHUNK) {
      for (const { row, column, wkb } of await readTiles(ask, id, border.slice(at, at + TILES_A_CHUNK))) {
        const tile = decodeTile(wkb)
        const whole = { start: 0, stride: tile.width, width: tile.width, height: tile.height }
        const areas = tiles.get(row * columns + column) as Float64Array
        bands.forEach(({ band }, index) => {
          const pixels = tile.bands[band - 1] as TileBand
          addSummary(summaries[index] as Summary, summaryOf(pixels, whole, areas, tileSize))
        })
        await pause()
      }
    }
    border = []
  }

  async function addBlocks(runs: BlockRun[]): Promise<void> {
    for (const stored of await readSummaries(ask, id, runs)) {
      bands.forEach(({ band }, index) => {
        addSummary(summaries[index] as Summary, decodeSummary(stored, band))
      })
      await pause()
    }
  }

  function wholeTile(row: number): Float64Array {
    const areas = new Float64Array(tileSize * tileSize)
    for (let line = 0; line < tileSize; line++) {
      areas.fill(measure.pixelArea(row * tileSize + line), line * tileSize, (line + 1) * tileSize)
    }
    return areas
  }
}
