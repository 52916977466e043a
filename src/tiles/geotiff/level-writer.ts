import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { Window } from '#src/raster/grid.ts'
import { type Pixels, type PixelType, pixelsOf } from '#src/raster/pixels.ts'
import { halve } from './halve.ts'
import { GEOTIFF_BLOCK, type Level } from './levels.ts'

const compress = promisify(deflate)

import { predicted } from './predict.ts'

/** What levels are written with. */
export interface Writing {
  type: PixelType
  nodata: number | undefined
  /** Comes between two blocks. */
  pause: () => Promise<void>
}

/**
 * Writes the blocks of a level, row by row, into a file of its own, and hands the means of its pixels to the level below.
 * What is held is one row of blocks.
 */
export class LevelWriter {
  readonly level: Level
  readonly file: FileHandle
  /** Bytes of each block, row by row. */
  readonly lengths: number[] = []
  readonly #below: LevelWriter | undefined
  readonly #writing: Writing
  readonly #strip: Pixels
  readonly #stride: number
  /** The row of blocks that is held. */
  #row = 0

  /** @param below the overview of half its size */
  constructor(level: Level, file: FileHandle, below: LevelWriter | undefined, writing: Writing) {
    this.level = level
    this.file = file
    this.#below = below
    this.#writing = writing
    this.#stride = level.columns * GEOTIFF_BLOCK
    this.#strip = pixelsOf(writing.type, this.#stride * GEOTIFF_BLOCK).fill(writing.nodata ?? 0)
  }

  /**
   * Adds a window of pixels.
   *
   * @param window lies in one row of blocks, and in none above that of a window before
   */
  async add({ column, row, width, height }: Window, pixels: Pixels): Promise<void> {
    await this.#goTo(Math.floor(row / GEOTIFF_BLOCK))
    const top = row - this.#row * GEOTIFF_BLOCK
    for (let y = 0; y < height; y++) {
      this.#strip.set(pixels.subarray(y * width, (y + 1) * width), (top + y) * this.#stride + column)
    }
  }

  /** Writes what is left of it, and of the levels below. */
  async finish(): Promise<void> {
    await this.#goTo(this.level.rows)
    await this.#below?.finish()
  }

  async #goTo(row: number): Promise<void> {
    for (; this.#row < row; this.#row++) {
      for (let column = 0; column < this.level.columns; column++) {
        await this.#writing.pause()
        await this.#write(this.#blockAt(column))
        await this.#below?.take(this.#row, column, this.#strip, this.#stride, this.level)
      }
      this.#strip.fill(this.#writing.nodata ?? 0)
    }
  }

  #blockAt(column: number): Pixels {
    const block = pixelsOf(this.#writing.type, GEOTIFF_BLOCK ** 2)
    for (let y = 0; y < GEOTIFF_BLOCK; y++) {
      const start = y * this.#stride + column * GEOTIFF_BLOCK
      block.set(this.#strip.subarray(start, start + GEOTIFF_BLOCK), y * GEOTIFF_BLOCK)
    }
    return block
  }

  async #write(block: Pixels): Promise<void> {
    const bytes = await compress(predicted(block, GEOTIFF_BLOCK))
    await this.file.appendFile(bytes)
    this.lengths.push(bytes.length)
  }

  /** Takes the means of a block of the level above. */
  async take(row: number, column: number, from: Pixels, stride: number, above: Level): Promise<void> {
    const [left, top] = [column * GEOTIFF_BLOCK, row * GEOTIFF_BLOCK]
    const size = {
      width: Math.min(GEOTIFF_BLOCK, above.width - left),
      height: Math.min(GEOTIFF_BLOCK, above.height - top),
    }
    await this.#goTo(Math.floor(row / 2))
    const start = (row % 2) * (GEOTIFF_BLOCK / 2) * this.#stride + left / 2
    const to = { pixels: this.#strip, stride: this.#stride }
    halve({ pixels: from, stride }, left, size, to, start, this.#writing.nodata)
  }
}
