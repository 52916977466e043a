/**
 * PostGIS raster pixel types that rasters are stored in, by the names PostGIS gives them: its code, and the
 * array that holds such pixels.
 */
export const PIXEL_TYPES = {
  '8BSI': { code: 3, PixelArray: Int8Array },
  '8BUI': { code: 4, PixelArray: Uint8Array },
  '16BSI': { code: 5, PixelArray: Int16Array },
  '16BUI': { code: 6, PixelArray: Uint16Array },
  '32BSI': { code: 7, PixelArray: Int32Array },
  '32BUI': { code: 8, PixelArray: Uint32Array },
  '32BF': { code: 10, PixelArray: Float32Array },
  '64BF': { code: 11, PixelArray: Float64Array },
} as const

export type PixelType = keyof typeof PIXEL_TYPES

/** The array that holds the pixels of a band. */
export type PixelArray = (typeof PIXEL_TYPES)[PixelType]['PixelArray']

/** The pixels of a band, row by row. */
export type Pixels = PixelArray['prototype']

/** How the pixels of a band are stored. */
export interface StoredBand {
  pixelType: PixelType
  /** The value that means none, as `storedNodata` gives it. */
  nodata: number | undefined
}

/**
 * The arrays by PostGIS's code. No raster is stored in the types of less than a byte here (0 to 2); a pixel
 * of them takes one.
 */
const ARRAYS_BY_CODE: (PixelArray | undefined)[] = [Uint8Array, Uint8Array, Uint8Array]
for (const { code, PixelArray } of Object.values(PIXEL_TYPES)) ARRAYS_BY_CODE[code] = PixelArray

/** The array for pixels of PostGIS's code; undefined where no type has it. */
export function pixelArrayOf(code: number): PixelArray | undefined {
  return ARRAYS_BY_CODE[code]
}

/** The type of pixels in an array. */
export function pixelTypeOf(pixels: Pixels): PixelType {
  const types = Object.keys(PIXEL_TYPES) as PixelType[]
  return types.find((type) => pixels instanceof PIXEL_TYPES[type].PixelArray) as PixelType
}

/** Bytes that a pixel takes. */
export function bytesOf(type: PixelType): number {
  return PIXEL_TYPES[type].PixelArray.BYTES_PER_ELEMENT
}

/** So many pixels, all 0. */
export function pixelsOf(type: PixelType, count: number): Pixels {
  return new PIXEL_TYPES[type].PixelArray(count)
}

/** Bytes, in the byte order of this machine, seen as pixels. */
export function asPixels(type: PixelType, bytes: Uint8Array): Pixels {
  const count = bytes.length / bytesOf(type)
  return new PIXEL_TYPES[type].PixelArray(bytes.buffer as ArrayBuffer, bytes.byteOffset, count)
}

/** Pixels in another type, which holds all of them. */
export function withType(pixels: Pixels, type: PixelType): Pixels {
  const { PixelArray } = PIXEL_TYPES[type]
  return pixels instanceof PixelArray ? pixels : PixelArray.from(pixels as Iterable<number>)
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

/** A type that holds every pixel of a type of integers, and others besides. */
const WIDER: Partial<Record<PixelType, PixelType>> = {
  '8BSI': '16BSI',
  '8BUI': '16BSI',
  '16BSI': '32BSI',
  '16BUI': '32BSI',
  '32BSI': '64BF',
  '32BUI': '64BF',
}

/**
 * How pixels are stored some of which are missing, by a mask: where each value of their type may be a real
 * one, in a wider type, whose lowest value means none.
 */
export function storedWithGaps(pixelType: PixelType, nodata: number | undefined): Required<StoredBand> {
  const same = storedNodata(pixelType, nodata)
  if (same !== undefined) return { pixelType, nodata: same }
  const wider = WIDER[pixelType] as PixelType
  return { pixelType: wider, nodata: storedNodata(wider, lowestOf(wider)) as number }
}

function lowestOf(type: PixelType): number {
  return nearestPixel(type, -Number.MAX_VALUE)
}

function fits(type: PixelType, value: number): boolean {
  return Number.isInteger(value) && nearestPixel(type, value) === value
}

/** What GDAL makes of a number in pixels of a type: integers are rounded and kept within their range. */
export function nearestPixel(type: PixelType, value: number): number {
  if (type.endsWith('F')) return value
  const bits = bytesOf(type) * 8
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

/** Replaces the pixels that a mask of the same size has 0 for by the stored nodata value, in place. */
export function markMasked(pixels: Pixels, mask: Pixels, nodata: number): void {
  for (let index = 0; index < pixels.length; index++) {
    if (mask[index] === 0) pixels[index] = nodata
  }
}
