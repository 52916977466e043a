import { copyWindow } from '#src/data/tiles/tiff.ts'
import type { Window } from '#src/raster/grid.ts'
import { createPixels, type Pixels } from '#src/raster/pixels.ts'
import {
  BLOCK_SIZE,
  type CompressedBlock,
  compressBlock,
  type EncodedGranule,
  encodeGranule,
  GRANULE_SIZE,
  type GranuleCoverage,
  type GranuleIndex,
  listBlockWindows,
  makeGranuleWindow,
  type WindowPixels,
} from './granule.ts'
import type { Zstd } from './zstd.ts'

/** A block without some of its pixels. */
interface OpenBlock extends WindowPixels {
  missing: number
}

/** A granule without some of its blocks, which have no value as far as is known. */
interface OpenGranule extends GranuleIndex {
  blocks: CompressedBlock[]
}

/** Makes granules of the pixels of a coverage, row by row. It holds a row of compressed granules, and incomplete blocks. */
export class GranuleBuilder {
  readonly #zstd: Zstd
  readonly #coverage: GranuleCoverage
  readonly #blocks = new Map<string, OpenBlock>()
  readonly #granules = new Map<string, OpenGranule>()

  constructor(zstd: Zstd, coverage: GranuleCoverage) {
    this.#zstd = zstd
    this.#coverage = coverage
  }

  /**
   * Adds pixels; none may come twice.
   *
   * @param window none may come above a former one
   * @param pixels one array a band
   * @yields complete granules
   */
  *add(window: Window, pixels: Pixels[]): Generator<EncodedGranule> {
    yield* this.#closeAbove(window.row)
    const end = { row: window.row + window.height, column: window.column + window.width }
    for (let row = firstOf(window.row); row < end.row; row += BLOCK_SIZE) {
      for (let column = firstOf(window.column); column < end.column; column += BLOCK_SIZE) {
        const block = this.#blockAt(row, column)
        for (const [band, target] of block.pixels.entries())
          copyWindow(pixels[band] as Pixels, window, target, block.window)
        block.missing -= countCommon(window, block.window)
        if (block.missing === 0) this.#close(block)
      }
    }
  }

  *finish(): Generator<EncodedGranule> {
    yield* this.#closeAbove(Number.POSITIVE_INFINITY)
  }

  #blockAt(row: number, column: number): OpenBlock {
    const key = `${row} ${column}`
    const { width, height } = this.#coverage.grid
    const block =
      this.#blocks.get(key) ??
      this.#emptyBlock({
        row,
        column,
        width: Math.min(BLOCK_SIZE, width - column),
        height: Math.min(BLOCK_SIZE, height - row),
      })
    this.#blocks.set(key, block)
    return block
  }

  #emptyBlock(window: Window): OpenBlock {
    const missing = window.width * window.height
    const pixels = this.#coverage.bands.map(({ pixelType, nodata }) =>
      createPixels(pixelType, missing).fill(nodata ?? 0),
    )
    return { window, pixels, missing }
  }

  #whole({ blocks, ...address }: OpenGranule): CompressedBlock[] {
    const { grid, bands } = this.#coverage
    const windows = listBlockWindows(makeGranuleWindow(grid, address))
    return windows.map(
      (window, index) => blocks[index] ?? compressBlock(this.#zstd, bands, this.#emptyBlock(window)),
    )
  }

  /** Moves a block into its granule. */
  #close({ window, pixels }: OpenBlock): void {
    this.#blocks.delete(`${window.row} ${window.column}`)
    const address = {
      row: Math.floor(window.row / GRANULE_SIZE),
      column: Math.floor(window.column / GRANULE_SIZE),
    }
    const key = `${address.row} ${address.column}`
    const windows = listBlockWindows(makeGranuleWindow(this.#coverage.grid, address))
    const granule = this.#granules.get(key) ?? { ...address, blocks: windows.map(() => null) }
    this.#granules.set(key, granule)
    const index = windows.findIndex(({ row, column }) => row === window.row && column === window.column)
    granule.blocks[index] = compressBlock(this.#zstd, this.#coverage.bands, { window, pixels })
  }

  /** Yields the granules that end above a row of pixels, but for those without any value. */
  *#closeAbove(row: number): Generator<EncodedGranule> {
    for (const block of this.#blocks.values()) {
      if (block.window.row + block.window.height <= row) this.#close(block)
    }
    for (const [key, granule] of this.#granules) {
      if ((granule.row + 1) * GRANULE_SIZE > row) continue
      this.#granules.delete(key)
      if (granule.blocks.every((block) => block === null)) continue
      yield encodeGranule(this.#coverage, granule, this.#whole(granule))
    }
  }
}

/** Begin of the block around a row or column of pixels. */
function firstOf(pixel: number): number {
  return Math.floor(pixel / BLOCK_SIZE) * BLOCK_SIZE
}

function countCommon(one: Window, other: Window): number {
  const bottom = Math.min(one.row + one.height, other.row + other.height)
  const right = Math.min(one.column + one.width, other.column + other.width)
  return (bottom - Math.max(one.row, other.row)) * (right - Math.max(one.column, other.column))
}
