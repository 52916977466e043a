import { type DecodedTile, decodeTile } from '#src/raster/raster-wkb.ts'
import type { Computation } from '../computing.ts'
import type { ZonalCoverage } from '../zonal-queries.ts'
import type { WeighedTile } from '../zonal-tiles.ts'
import type { CoveragePair } from './pairs.ts'

/** Bands of tiles that are read at a time, of two coverages each: 16 MB where pixels have 4 bytes. */
const BANDS_A_CHUNK = 8192

/** More tiles than this are not read at a time, however few bands they have. */
const MOST_TILES_A_CHUNK = 1024

/** A tile as it was and as it is; undefined where none of it has a value. */
type Visit = (before: DecodedTile | undefined, after: DecodedTile | undefined, areas: Float64Array) => void

/** Reads tiles of two coverages on one grid, chunk by chunk as enough of them are wanted. */
export class PairReader {
  readonly #computation: Computation
  readonly #pair: CoveragePair
  readonly #visit: Visit
  readonly #tilesAChunk: number
  #wanted: WeighedTile[] = []

  constructor(computation: Computation, pair: CoveragePair, visit: Visit) {
    this.#computation = computation
    this.#pair = pair
    this.#visit = visit
    const bands = Math.max(pair.before.bands.length, pair.after.bands.length)
    this.#tilesAChunk = Math.max(1, Math.min(MOST_TILES_A_CHUNK, Math.floor(BANDS_A_CHUNK / bands)))
  }

  async want(tile: WeighedTile): Promise<void> {
    this.#wanted.push(tile)
    if (this.#wanted.length >= this.#tilesAChunk) await this.finish()
  }

  /** Reads what is left. */
  async finish(): Promise<void> {
    const wanted = this.#wanted
    this.#wanted = []
    if (wanted.length === 0) return
    const { before, after } = this.#pair
    const old = await this.#read(before, wanted)
    const now = await this.#read(after, wanted)
    for (const tile of wanted) {
      const key = keyOf(tile)
      const [oldWkb, nowWkb] = [old.get(key), now.get(key)]
      if (!oldWkb && !nowWkb) continue
      this.#visit(oldWkb && decodeTile(oldWkb), nowWkb && decodeTile(nowWkb), tile.areas)
      await this.#computation.pause()
    }
  }

  async #read(coverage: ZonalCoverage, tiles: WeighedTile[]): Promise<Map<string, Buffer>> {
    const rows = await this.#computation.readTiles(coverage, tiles)
    return new Map(rows.map((row) => [keyOf(row), row.wkb]))
  }
}

function keyOf({ row, column }: { row: number; column: number }): string {
  return `${row} ${column}`
}
