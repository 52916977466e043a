/** PostGIS's names and codes, with the array of such pixels. */
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

export type PixelArray = (typeof PIXEL_TYPES)[PixelType]['PixelArray']

export type Pixels = PixelArray['prototype']

export interface StoredBand {
  pixelType: PixelType
  /** From `storedNodata`. */
  nodata: number | undefined
}

/** Types below a byte (0 to 2) take a byte here; no raster is stored in them. */
const ARRAYS_BY_CODE: (PixelArray | undefined)[] = [Uint8Array, Uint8Array, Uint8Array]
for (const { code, PixelArray } of Object.values(PIXEL_TYPES)) ARRAYS_BY_CODE[code] = PixelArray

export function pixelArrayOf(code: number): PixelArray | undefined {
  return ARRAYS_BY_CODE[code]
}

export function findPixelType(pixels: Pixels): PixelType {
  const types = Object.keys(PIXEL_TYPES) as PixelType[]
  return types.find((type) => pixels instanceof PIXEL_TYPES[type].PixelArray) as PixelType
}

const FLOAT_TOLERANCE = 1.1920928955078125e-7

/** By how much a pixel may differ from the nodata of its band and is none, as PostGIS has it. */
export function nodataTolerance(pixels: Pixels): number {
  return pixels instanceof Float32Array || pixels instanceof Float64Array ? FLOAT_TOLERANCE : 0
}

export function bytesOf(type: PixelType): number {
  return PIXEL_TYPES[type].PixelArray.BYTES_PER_ELEMENT
}

export function createPixels(type: PixelType, count: number): Pixels {
  return new PIXEL_TYPES[type].PixelArray(count)
}

/** In the byte order of this machine. */
export function asPixels(type: PixelType, bytes: Uint8Array): Pixels {
  const count = bytes.length / bytesOf(type)
  return new PIXEL_TYPES[type].PixelArray(bytes.buffer as ArrayBuffer, bytes.byteOffset, count)
}

/** The type must hold all pixels. */
export function withType(pixels: Pixels, type: PixelType): Pixels {
  const { PixelArray } = PIXEL_TYPES[type]
  return pixels instanceof PixelArray ? pixels : PixelArray.from(pixels as Iterable<number>)
}

const LOWEST_FLOAT32 = -3.4028234663852886e38

/**
 * Undefined if every pixel has a value. Integers keep their nodata. Floats use the lowest number: nodata may be NaN,
 * and PostGIS compares it with a tolerance that would hide small values beside 0.
 */
export function storedNodata(type: PixelType, nodata: number | undefined): number | undefined {
  if (type === '64BF') return -Number.MAX_VALUE
  if (type === '32BF') return LOWEST_FLOAT32
  return Number.isInteger(nodata) && nearestPixel(type, nodata as number) === nodata ? nodata : undefined
}

/** Holds every pixel of the type, and others. */
const WIDER: Partial<Record<PixelType, PixelType>> = {
  '8BSI': '16BSI',
  '8BUI': '16BSI',
  '16BSI': '32BSI',
  '16BUI': '32BSI',
  '32BSI': '64BF',
  '32BUI': '64BF',
}

/** For masked pixels: if each value of the type may be real, a wider type, whose lowest value means none. */
export function storedWithGaps(pixelType: PixelType, nodata: number | undefined): Required<StoredBand> {
  const same = storedNodata(pixelType, nodata)
  if (same !== undefined) return { pixelType, nodata: same }
  const wider = WIDER[pixelType] as PixelType
  return { pixelType: wider, nodata: storedNodata(wider, nearestPixel(wider, -Number.MAX_VALUE)) as number }
}

/** As GDAL: rounded, and clamped to the range. */
export function nearestPixel(type: PixelType, value: number): number {
  if (type.endsWith('F')) return value
  const bits = bytesOf(type) * 8
  const signed = type.endsWith('SI')
  const minimum = signed ? -(2 ** (bits - 1)) : 0
  const maximum = signed ? 2 ** (bits - 1) - 1 : 2 ** bits - 1
  return Number.isNaN(value) ? 0 : Math.min(maximum, Math.max(minimum, Math.round(value)))
}

/**
 * In place: the file's nodata, NaN and infinities become the stored nodata. Tags are decimal, so Float32 pixels need a
 * rounded one.
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

/** In place: pixels with 0 in the mask get the stored nodata. */
export function markMasked(pixels: Pixels, mask: Pixels, nodata: number): void {
  for (let index = 0; index < pixels.length; index++) {
    if (mask[index] === 0) pixels[index] = nodata
  }
}
