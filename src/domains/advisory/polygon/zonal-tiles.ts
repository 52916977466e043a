import { columnsIn, tileRowsOf } from '#src/raster/blocks.ts'
import { type Measure, measureOf } from '#src/raster/pixel-area.ts'
import { type DecodedTile, TileDecoder } from '#src/raster/raster-wkb.ts'
import type { Computation } from './computing.ts'
import type { ZonalPolygon } from './place-on-coverage.ts'
import type { ZonalCoverage } from './zonal-queries.ts'

/** Tiles that are read with one statement: half a megabyte where a tile has one Float32 band. */
const TILES_A_CHUNK = 512

/** A tile, and of each of its pixels the area that counts. */
export interface WeighedTile {
  row: number
  column: number
  /** Row by row, as wide as the tile size. */
  areas: Float64Array
}

/** Is given each tile that is there, until the next one is: those without any value are not. */
export type VisitTile = (tile: DecodedTile, areas: Float64Array) => void

/** Reads tiles of a coverage, chunk by chunk as enough of them are wanted, so that memory stays bounded. */
export class TileReader {
  readonly #computation: Computation
  readonly #coverage: ZonalCoverage
  readonly #columns: number
  readonly #visit: VisitTile
  readonly #decoder = new TileDecoder()
  #wanted = new Map<number, WeighedTile>()

  constructor(computation: Computation, coverage: ZonalCoverage, visit: VisitTile) {
    this.#computation = computation
    this.#coverage = coverage
    this.#columns = Math.ceil(coverage.width / coverage.tileSize)
    this.#visit = visit
  }

  async want(tile: WeighedTile): Promise<void> {
    this.#wanted.set(tile.row * this.#columns + tile.column, tile)
    if (this.#wanted.size >= TILES_A_CHUNK) await this.finish()
  }

  /** Wants whole tiles of a row, in runs of columns. */
  async wantWhole(row: number, runs: number[], measure: Measure): Promise<void> {
    const areas = wholeTile(this.#coverage, measure, row)
    for (const column of columnsIn(runs)) await this.want({ row, column, areas })
  }

  /** Reads what is left. */
  async finish(): Promise<void> {
    const wanted = this.#wanted
    this.#wanted = new Map()
    if (wanted.size === 0) return
    const { readTiles, pause } = this.#computation
    for (const { row, column, wkb } of await readTiles(this.#coverage, [...wanted.values()])) {
      const { areas } = wanted.get(row * this.#columns + column) as WeighedTile
      this.#visit(this.#decoder.decode(wkb), areas)
      await pause()
    }
  }
}

/** What of a polygon has been read, and what is inside as a whole. */
export interface TilesRead {
  /** Of the grid, inside the polygon. */
  area: number
  /** The tiles inside that have not been read, as runs of columns by their row. */
  inside: Map<number, number[]>
}

/** Reads the tiles on the border of a polygon, and those inside as well where nothing is stored of them. */
export async function readTilesOf(
  computation: Computation,
  coverage: ZonalCoverage,
  placed: ZonalPolygon,
  visit: VisitTile,
): Promise<TilesRead> {
  const measure = measureOf(coverage, coverage.geographic)
  const reader = new TileReader(computation, coverage, visit)
  const read: TilesRead = { area: 0, inside: new Map() }
  for (const found of tileRowsOf(placed, coverage, measure)) {
    await computation.pause()
    if (!found) continue
    const { row, area, border, inside } = found
    read.area += area
    for (const [column, areas] of border) await reader.want({ row, column, areas })
    if (inside.length === 0) continue
    if (coverage.summarised) read.inside.set(row, inside)
    else await reader.wantWhole(row, inside, measure)
  }
  await reader.finish()
  return read
}

/** The areas of the pixels of a whole tile in a row of them. */
export function wholeTile({ tileSize }: ZonalCoverage, measure: Measure, row: number): Float64Array {
  const areas = new Float64Array(tileSize * tileSize)
  for (let line = 0; line < tileSize; line++) {
    areas.fill(measure.pixelArea(row * tileSize + line), line * tileSize, (line + 1) * tileSize)
  }
  return areas
}
