import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import type { GridSize, Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'

/** Collects which tiles of a grid have a value in any layer, window by window: a bit a tile. */
export class Presence {
  readonly #nodata: (number | undefined)[]
  readonly #columns: number
  readonly #rows: number
  readonly #tiles: Uint8Array

  /** @param layers of the grid, in the order in which their pixels come */
  constructor({ width, height }: GridSize, layers: { nodata: number | undefined }[]) {
    this.#nodata = layers.map(({ nodata }) => nodata)
    this.#columns = Math.ceil(width / TILE_SIZE)
    this.#rows = Math.ceil(height / TILE_SIZE)
    this.#tiles = new Uint8Array(Math.ceil((this.#columns * this.#rows) / 8))
  }

  /** @param pixels of each layer */
  add({ column, row, width, height }: Window, pixels: Pixels[]): void {
    for (let top = 0; top < height; top += TILE_SIZE) {
      const end = Math.min(height, top + TILE_SIZE) * width
      for (let left = 0; left < width; left += TILE_SIZE) {
        const across = Math.min(TILE_SIZE, width - left)
        const start = top * width + left
        if (!pixels.some((band, index) => hasValue(band, this.#nodata[index], start, end, width, across))) {
          continue
        }
        const tile = ((row + top) / TILE_SIZE) * this.#columns + (column + left) / TILE_SIZE
        this.#tiles[tile >> 3] = (this.#tiles[tile >> 3] as number) | (1 << (tile & 7))
      }
    }
  }

  /** Whether a block has a value; those of level 0 are the tiles. */
  has(level: number, row: number, column: number): boolean {
    const side = BLOCK_FACTOR ** level
    const [lastRow, lastColumn] = [(row + 1) * side, (column + 1) * side]
    for (let tileRow = row * side; tileRow < Math.min(lastRow, this.#rows); tileRow++) {
      for (let at = column * side; at < Math.min(lastColumn, this.#columns); at++) {
        const tile = tileRow * this.#columns + at
        if ((this.#tiles[tile >> 3] as number) & (1 << (tile & 7))) return true
      }
    }
    return false
  }
}

function hasValue(
  pixels: Pixels,
  nodata: number | undefined,
  start: number,
  end: number,
  stride: number,
  width: number,
): boolean {
  for (let row = start; row < end; row += stride) {
    for (let at = row; at < row + width; at++) if (pixels[at] !== nodata) return true
  }
  return false
}
