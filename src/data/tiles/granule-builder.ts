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
} from './granule.ts'
import type { Zstd } from './tiff.ts'

/** A block of which pixels have come. */
interface OpenBlock {
  window: Window
  pixels: Pixels[]
  /** How many pixels are still to come. */
  missing: number
}

/** A granule of which blocks have come; those that are not there yet have no value, as far as is known. */
interface OpenGranule extends GranuleIndex {
  blocks: CompressedBlock[]
}

/**
 * Makes granules of the pixels of a coverage, while these pass by in the order of their rows. What is held is a row of
 * granules as they are kept, and of the blocks what has come in parts.
 */
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
   * Adds a window of pixels; none may come twice.
   *
   * @param window no window may come whose row is above that of one that came before
   * @param pixels one array a band
   * @yields the granules that are complete
   */
  *add(window: Window, pixels: Pixels[]): Generator<EncodedGranule> {
    yield* this.#closeAbove(window.row)
    const end = { row: window.row + window.height, column: window.column + window.width }
    for (let row = firstOf(window.row); row < end.row; row += BLOCK_SIZE) {
      for (let column = firstOf(window.column); column < end.column; column += BLOCK_SIZE) {
        const block = this.#blockAt(row, column)
        block.missing -= copy(pixels, window, block)
        if (block.missing === 0) this.#close(block)
      }
    }
  }

  /** Ends it: no further pixels come. */
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

  /** A block without any value. */
  #emptyBlock(window: Window): OpenBlock {
    const missing = window.width * window.height
    const pixels = this.#coverage.bands.map(({ pixelType, nodata }) =>
      createPixels(pixelType, missing).fill(nodata ?? 0),
    )
    return { window, pixels, missing }
  }

  /** The blocks of a granule, with those of which nothing has come. */
  #whole({ blocks, ...place }: OpenGranule): CompressedBlock[] {
    const { grid, bands } = this.#coverage
    const windows = listBlockWindows(makeGranuleWindow(grid, place))
    return windows.map(
      (window, index) => blocks[index] ?? compressBlock(this.#zstd, bands, this.#emptyBlock(window)),
    )
  }

  /** Compresses a block, and gives it to its granule. */
  #close({ window, pixels }: OpenBlock): void {
    this.#blocks.delete(`${window.row} ${window.column}`)
    const place = {
      row: Math.floor(window.row / GRANULE_SIZE),
      column: Math.floor(window.column / GRANULE_SIZE),
    }
    const key = `${place.row} ${place.column}`
    const windows = listBlockWindows(makeGranuleWindow(this.#coverage.grid, place))
    const granule = this.#granules.get(key) ?? { ...place, blocks: windows.map(() => null) }
    this.#granules.set(key, granule)
    const index = windows.findIndex(({ row, column }) => row === window.row && column === window.column)
    granule.blocks[index] = compressBlock(this.#zstd, this.#coverage.bands, { window, pixels })
  }

  /** Hands out the granules that end above a row of pixels, but for those without any value. */
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

/** Where the block begins that a row or column of pixels lies in. */
function firstOf(pixel: number): number {
  return Math.floor(pixel / BLOCK_SIZE) * BLOCK_SIZE
}

/** Copies the pixels that a window has of a block; says how many. */
function copy(from: Pixels[], window: Window, { window: to, pixels }: OpenBlock): number {
  const top = Math.max(window.row, to.row)
  const bottom = Math.min(window.row + window.height, to.row + to.height)
  const left = Math.max(window.column, to.column)
  const width = Math.min(window.column + window.width, to.column + to.width) - left
  for (const [band, target] of pixels.entries()) {
    for (let row = top; row < bottom; row++) {
      const start = (row - window.row) * window.width + left - window.column
      target.set(
        (from[band] as Pixels).subarray(start, start + width),
        (row - to.row) * to.width + left - to.column,
      )
    }
  }
  return (bottom - top) * width
}
