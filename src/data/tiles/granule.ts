import { createHash } from 'node:crypto'
import type { Grid, Window } from '#src/raster/grid.ts'
import { bytesOf, type Pixels, type PixelType, type StoredBand } from '#src/raster/pixels.ts'

/** Pixels on a side of a block, which is read as a whole: the larger, the fewer requests, and the more each one decodes. */
export const BLOCK_SIZE = 128

/** Pixels on a side of a granule: its header stays at some kilobytes, and itself at some megabytes. */
export const GRANULE_SIZE = 512

/** What the pixels of a granule are of. */
export interface GranuleCoverage {
  grid: Grid
  /** Whether its CRS has degrees. */
  geographic: boolean
  bands: StoredBand[]
}

/** Where a granule lies in its coverage, in granules. */
export interface GranulePlace {
  row: number
  column: number
}

/** Where a block is in its granule; of a block without any value there is nothing. */
export interface BlockPlace {
  offset: number
  /** Bytes of each band, which lie one behind the other. */
  lengths: number[]
  sum: string
}

/** What the header of a granule says. */
export interface Granule extends Omit<GranuleCoverage, 'geographic'> {
  /** What it has of the grid. */
  window: Window
  /** Row by row. */
  blocks: BlockPlace[]
}

/** Pixels of all bands of a coverage. */
export interface WindowPixels {
  window: Window
  pixels: Pixels[]
}

/** The tags of its fields. */
export const TAGS = {
  imageWidth: 256,
  imageLength: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  description: 270,
  samplesPerPixel: 277,
  planarConfiguration: 284,
  tileWidth: 322,
  tileLength: 323,
  tileOffsets: 324,
  tileByteCounts: 325,
  extraSamples: 338,
  sampleFormat: 339,
  transformation: 34264,
  geoKeys: 34735,
  nodata: 42113,
}

/** Of the hexadecimal digits of a SHA-256, so many tell blocks apart. */
const SUM_DIGITS = 32

/** What the description of a granule says; another form gets another name. */
export interface Description {
  format: typeof FORMAT
  grid: Grid
  window: Window
  bands: { pixelType: PixelType; nodata?: number }[]
  sums: string[]
}

export const FORMAT = 'agro granule 1'

/** The type of the samples of a granule: that of all bands, or one that holds the pixels of each. */
export function sampleTypeOf(bands: StoredBand[]): PixelType {
  const types = new Set(bands.map(({ pixelType }) => pixelType))
  const [first] = types
  // GDAL took signed bytes for unsigned ones until 3.7.
  if (types.size === 1 && first !== '8BSI') return first as PixelType
  if (types.size === 1) return '16BSI'
  return [...types].every((type) => type === '32BF' || bytesOf(type) <= 2) ? '32BF' : '64BF'
}

/** The window of a granule in a grid. */
export function windowOf({ width, height }: Grid, { row, column }: GranulePlace): Window {
  const [left, top] = [column * GRANULE_SIZE, row * GRANULE_SIZE]
  return {
    column: left,
    row: top,
    width: Math.min(GRANULE_SIZE, width - left),
    height: Math.min(GRANULE_SIZE, height - top),
  }
}

/** The windows of the blocks of a window, row by row. */
export function blockWindowsOf({ column, row, width, height }: Window): Window[] {
  const windows: Window[] = []
  for (let top = 0; top < height; top += BLOCK_SIZE) {
    for (let left = 0; left < width; left += BLOCK_SIZE) {
      windows.push({
        column: column + left,
        row: row + top,
        width: Math.min(BLOCK_SIZE, width - left),
        height: Math.min(BLOCK_SIZE, height - top),
      })
    }
  }
  return windows
}

/** What tells a block from others, and from what is left of it. */
export function sumOf(parts: Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex').slice(0, SUM_DIGITS)
}
