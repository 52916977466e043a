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

const PIXEL_ARRAYS = {
  '8BSI': Int8Array,
  '8BUI': Uint8Array,
  '16BSI': Int16Array,
  '16BUI': Uint16Array,
  '32BSI': Int32Array,
  '32BUI': Uint32Array,
  '32BF': Float32Array,
  '64BF': Float64Array,
} as const

/** So many pixels, all 0. */
export function pixelsOf(type: PixelType, count: number): Pixels {
  return new PIXEL_ARRAYS[type](count)
}

/** Bytes, in the byte order of this machine, seen as pixels. */
export function asPixels(type: PixelType, bytes: Uint8Array): Pixels {
  const count = bytes.length / PIXEL_TYPES[type].bytes
  return new PIXEL_ARRAYS[type](bytes.buffer as ArrayBuffer, bytes.byteOffset, count)
}

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
  return Number.isInteger(value) && nearestPixel(type, value) === value
}

/** What GDAL makes of a number in pixels of a type: integers are rounded and kept within their range. */
export function nearestPixel(type: PixelType, value: number): number {
  if (type.endsWith('F')) return value
  const bits = PIXEL_TYPES[type].bytes * 8
  const signed = type.endsWith('SI')
  const minimum = signed ? -(2 ** (bits - 1)) : 0
  const maximum = signed ? 2 ** (bits - 1) - 1 : 2 ** bits - 1
  return Number.isNaN(value) ? 0 : Math.min(maximum, Math.max(minimum, Math.round(value)))
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
