import { join } from 'node:path'
import { TAGS, type TiffOptions, writeTiff } from '../tiff.ts'

/** A grid over most of Ethiopia. */
export const WIDTH = 150
export const HEIGHT = 115
const DEGREES = 0.1

export type ValueAt = (row: number, column: number) => number

/** A yield as it may be: from 1400 to 2600 kg/ha, and nowhere twice. */
export const smooth: ValueAt = (row, column) =>
  2000 + 600 * Math.sin(row / 37) * Math.cos(column / 41) + (row * WIDTH + column) / 1e4

/** Writes a raster of 32-bit floats over Ethiopia, with values in kg/ha, and nodata -1. */
export function writeField(
  folder: string,
  name: string,
  valueAt: ValueAt = smooth,
  { west = 33, north = 15, degrees = DEGREES, ...options }: Partial<Place & TiffOptions> = {},
): Promise<string> {
  const { width = WIDTH, height = HEIGHT, tags = {}, ...rest } = options
  return writeTiff(join(folder, name), {
    width,
    height,
    row: (row) => Float32Array.from({ length: width }, (_, column) => valueAt(row, column)),
    ...rest,
    tags: {
      [TAGS.pixelScale]: ['double', [degrees, degrees, 0]],
      [TAGS.tiepoints]: ['double', [0, 0, 0, west, north, 0]],
      [TAGS.nodata]: ['ascii', '-1\0'],
      ...tags,
    },
  } as TiffOptions)
}

interface Place {
  west: number
  north: number
  degrees: number
}
