import { createHash } from 'node:crypto'
import type { Window } from '#src/raster/grid.ts'
import { asPixels, bytesOf, type Pixels, type PixelType, pixelsOf, withType } from '#src/raster/pixels.ts'
import type { Range } from '#src/storage/ranges.ts'
import { FileDamaged } from '#src/storage/store.ts'
import {
  BLOCK_SIZE,
  type BlockPlace,
  blockWindowsOf,
  type Description,
  FORMAT,
  type Granule,
  sampleTypeOf,
  sumOf,
  TAGS,
  type WindowPixels,
} from './granule.ts'
import { fieldBytes, longsOf } from './tiff.ts'
import type { Zstd } from './zstd.ts'

/** Whether bytes are the header of the granule of a name. */
export function isHeaderOf(name: string, bytes: Buffer): boolean {
  return createHash('sha256').update(bytes).digest('hex') === name
}

/**
 * Reads the header of a granule.
 *
 * @throws {FileDamaged} where it is of a form that this version does not know
 */
export function decodeHeader(header: Buffer): Granule {
  const text = fieldBytes(header, TAGS.description).subarray(0, -1).toString('latin1')
  const { format, grid, window, bands, sums } = JSON.parse(text) as Description
  if (format !== FORMAT) throw new FileDamaged(`a granule is of the form ${format}, which is not known`)
  const offsets = longsOf(header, TAGS.tileOffsets)
  const lengths = longsOf(header, TAGS.tileByteCounts)
  return {
    grid,
    window,
    bands: bands.map(({ pixelType, nodata }) => ({ pixelType, nodata })),
    blocks: sums.map((sum, block) => ({
      offset: offsets[block] as number,
      lengths: bands.map((_, band) => lengths[band * sums.length + block] as number),
      sum,
    })),
  }
}

/** The place of the block among those of its granule that has a pixel of the grid. */
export function blockIndexOf({ window }: Granule, { row, column }: Pick<Window, 'row' | 'column'>): number {
  const across = Math.ceil(window.width / BLOCK_SIZE)
  return (
    Math.floor((row - window.row) / BLOCK_SIZE) * across + Math.floor((column - window.column) / BLOCK_SIZE)
  )
}

/** Where the bytes of a block are, and how they are known; null of one without any value. */
export function rangeOf({ blocks }: Granule, index: number): Omit<Range, 'name'> | null {
  const { offset, lengths, sum } = blocks[index] as BlockPlace
  if (sum === '') return null
  const length = lengths.reduce((total, length) => total + length, 0)
  return { offset, length, isWhole: (bytes) => sumOf([bytes]) === sum }
}

/**
 * Reads the pixels of a block, in the types that their bands are stored in.
 *
 * @param bytes of `rangeOf`, which are whole
 */
export function decodeBlock(
  zstd: Zstd,
  { window: all, bands, blocks }: Granule,
  index: number,
  bytes: Buffer,
): WindowPixels {
  const { lengths } = blocks[index] as BlockPlace
  const window = blockWindowsOf(all)[index] as Window
  const type = sampleTypeOf(bands)
  let at = 0
  const pixels = bands.map(({ pixelType }, band) => {
    const end = at + (lengths[band] as number)
    const samples = zstd.decompress(bytes.subarray(at, end), bytesOf(type) * BLOCK_SIZE ** 2)
    at = end
    return withType(cutOff(asPixels(type, samples), type, window), pixelType)
  })
  return { window, pixels }
}

/** The pixels of a window out of a whole block. */
function cutOff(block: Pixels, type: PixelType, { width, height }: Window): Pixels {
  if (width === BLOCK_SIZE && height === BLOCK_SIZE) return block
  const pixels = pixelsOf(type, width * height)
  for (let row = 0; row < height; row++) {
    pixels.set(block.subarray(row * BLOCK_SIZE, row * BLOCK_SIZE + width), row * width)
  }
  return pixels
}
