/** PostGIS raster pixel types that rasters are stored in, by the names PostGIS gives them. */
export const PIXEL_TYPES = {
  '8BSI': { code: 3, bytes: 1 },
  '8BUI': { code: 4, bytes: 1 },
  '16BSI': { code: 5, bytes: 2 },
  '16BUI': { code: 6, bytes: 2 },
  '32BSI': { code: 7, bytes: 4 },
  '32BUI': { code: 8, bytes: 4 },
  '32BF': { code: 10, bytes: 4 },
  '64BF': { code: 11, bytes: 8 },
} as const

export type PixelType = keyof typeof PIXEL_TYPES

export type Pixels =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array

const LOWEST_FLOAT32 = -3.4028234663852886e38

/**
 * The value that stands for "no value" in a stored band, or undefined where every pixel has one.
 *
 * Integers keep the nodata value they came with, if their type can hold it. Floats get their type's
 * lowest number instead of it: their nodata may be NaN, and PostGIS compares nodata with a tolerance
 * that would take small values beside a nodata of 0 for missing.
 */
export function storedNodata(type: PixelType, nodata: number | undefined): number | undefined {
  if (type === '64BF') return -Number.MAX_VALUE
  if (type === '32BF') return LOWEST_FLOAT32
  return nodata !== undefined && fits(type, nodata) ? nodata : undefined
}

function fits(type: PixelType, value: number): boolean {
  const bits = PIXEL_TYPES[type].bytes * 8
  const signed = type.endsWith('SI')
  const minimum = signed ? -(2 ** (bits - 1)) : 0
  const maximum = signed ? 2 ** (bits - 1) - 1 : 2 ** bits - 1
  return Number.isInteger(value) && value >= minimum && value <= maximum
}

/**
 * Replaces what means "no value" in pixels read from a file by the stored nodata value, in place:
 * the file's nodata, NaN and the infinities. A nodata tag is written as a decimal number, so for
 * Float32 pixels it has to be rounded to one before it can be compared.
 */
export function markNodata(pixels: Pixels, type: PixelType, nodata: number | undefined): void {
  if (!(pixels instanceof Float32Array || pixels instanceof Float64Array)) return
  const stored = storedNodata(type, nodata) as number
  const inFile = nodata === undefined ? stored : pixels instanceof Float32Array ? Math.fround(nodata) : nodata
  for (let index = 0; index < pixels.length; index++) {
    const value = pixels[index] as number
    if (value === inFile || value - value !== 0) pixels[index] = stored
  }
}
