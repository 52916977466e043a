import type { Measure } from '#src/raster/pixel-area.ts'
import { type DecodedTile, decodeTile } from '#src/raster/raster-wkb.ts'
import type { Computation } from './computing.ts'
import { readTiles, type ZonalCoverage } from './zonal-queries.ts'

/** Tiles that are read with one statement: half a megabyte where a tile has one Float32 band. */
const TILES_A_CHUNK = 512

/** A tile, and of each of its pixels the area that counts. */
export interface WeighedTile {
  row: number
  column: number
  /** Row by row, as wide as the tile size. */
  areas: Float64Array
}

/** Reads tiles of a coverage, chunk by chunk as enough of them are wanted, so that memory stays bounded. */
export class TileReader {
  readonly #computation: Computation
  readonly #coverage: ZonalCoverage
  readonly #columns: number
  readonly #visit: (tile: DecodedTile, areas: Float64Array) => void
  #wanted = new Map<number, WeighedTile>()

  /** @param visit is called with each tile that is there: those without any value are not */
  constructor(
    computation: Computation,
    coverage: ZonalCoverage,
    visit: (tile: DecodedTile, areas: Float64Array) => void,
  ) {
    this.#computation = computation
    this.#coverage = coverage
    this.#columns = Math.ceil(coverage.width / coverage.tileSize)
    this.#visit = visit
  }

  async want(tile: WeighedTile): Promise<void> {
    this.#wanted.set(tile.row * this.#columns + tile.column, tile)
    if (this.#wanted.size >= TILES_A_CHUNK) await this.finish()
  }

  /** Reads what is left. */
  async finish(): Promise<void> {
    const wanted = this.#wanted
    this.#wanted = new Map()
    if (wanted.size === 0) return
    const { ask, pause } = this.#computation
    for (const { row, column, wkb } of await readTiles(ask, this.#coverage.id, [...wanted.values()])) {
      const { areas } = wanted.get(row * this.#columns + column) as WeighedTile
      this.#visit(decodeTile(wkb), areas)
      await pause()
    }
  }
}

/** The areas of the pixels of a whole tile in a row of them. */
export function wholeTile({ tileSize }: ZonalCoverage, measure: Measure, row: number): Float64Array {
  const areas = new Float64Array(tileSize * tileSize)
  for (let line = 0; line < tileSize; line++) {
    areas.fill(measure.pixelArea(row * tileSize + line), line * tileSize, (line + 1) * tileSize)
  }
  return areas
}
