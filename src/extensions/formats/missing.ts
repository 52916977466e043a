import { bytesOf, nearestPixel, type Pixels, type PixelType } from '#src/raster/pixels.ts'
import { numbersOf, textOf, type Variable } from './container.ts'

/** Which pixels of a variable have no value. */
export interface Missing {
  /** The one number that says so when pixels have been read; undefined for NaN alone. */
  nodata: number | undefined
  /** Further numbers that say so in the file. */
  others: number[]
  /** Values are between these, which have no effect where they are infinite. */
  from: number
  to: number
  notes: string[]
}

/** Of NetCDF, for pixels that were never written: bytes have none. */
const UNWRITTEN: Partial<Record<PixelType, number>> = {
  '16BSI': -32_767,
  '16BUI': 65_535,
  '32BSI': -2_147_483_647,
  '32BUI': 4_294_967_295,
  '32BF': Math.fround(9.969_209_968_386_869e36),
  '64BF': 9.969_209_968_386_869e36,
}

/** @param isNetcdf its own numbers for unwritten pixels count where a variable names none, as for GDAL */
export function findMissing(variable: Variable, pixelType: PixelType, isNetcdf: boolean): Missing {
  const raw = (name: string) =>
    numbersOf(variable.attribute(name)).map((value) => asStored(value, pixelType, variable))
  const [own] = raw('_FillValue')
  const named = raw('missing_value')
  const first = own ?? variable.fill ?? named[0] ?? (isNetcdf ? UNWRITTEN[pixelType] : undefined)
  const [from, to] = readRange(variable, pixelType, raw)
  const notes =
    first === 0 && own === undefined && variable.fill === 0
      ? [
          `${variable.name} has the fill value 0: its pixels with 0 have no value; where 0 is one, give "nodata: none".`,
        ]
      : []
  return {
    nodata: first ?? outside(pixelType, from, to),
    others: named.filter((value) => !Object.is(value, first)),
    from,
    to,
    notes,
  }
}

/** Signed attributes of unsigned pixels. */
function asStored(value: number, pixelType: PixelType, variable: Variable): number {
  const isUnsigned = textOf(variable.attribute('_Unsigned'))?.toLowerCase() === 'true'
  return isUnsigned && value < 0 ? value + 2 ** (8 * bytesOf(pixelType)) : value
}

/** Of pixels as they are stored; a range with fractions of whole numbers is one of values, though. */
function readRange(
  variable: Variable,
  pixelType: PixelType,
  raw: (name: string) => number[],
): [number, number] {
  const both = raw('valid_range')
  const from = both[0] ?? raw('valid_min')[0] ?? Number.NEGATIVE_INFINITY
  const to = both[1] ?? raw('valid_max')[0] ?? Number.POSITIVE_INFINITY
  const isWhole = [from, to].every((end) => !Number.isFinite(end) || Number.isInteger(end))
  if (pixelType.endsWith('F') || isWhole) return [from, to]
  const [scale = 1] = numbersOf(variable.attribute('scale_factor'))
  const [offset = 0] = numbersOf(variable.attribute('add_offset'))
  const ends = [from, to].map((end) => (end - offset) / scale)
  return [Math.min(...ends), Math.max(...ends)]
}

/** A number of the type that is no value; for floats NaN serves. */
function outside(pixelType: PixelType, from: number, to: number): number | undefined {
  if (pixelType.endsWith('F')) return undefined
  const [least, most] = [
    nearestPixel(pixelType, -Number.MAX_VALUE),
    nearestPixel(pixelType, Number.MAX_VALUE),
  ]
  return least < from ? least : most > to ? most : undefined
}

/** In place: all missing pixels get the one number. */
export function createCleaner({ nodata, others, from, to }: Missing): (pixels: Pixels) => void {
  const none = nodata ?? Number.NaN
  const has32 = others.map(Math.fround)
  return (pixels) => {
    const isSingle = pixels instanceof Float32Array
    const wrong = isSingle ? has32 : others
    const [least, most] = isSingle ? [Math.fround(from), Math.fround(to)] : [from, to]
    if (wrong.length === 0 && least === Number.NEGATIVE_INFINITY && most === Number.POSITIVE_INFINITY) return
    for (let at = 0; at < pixels.length; at++) {
      const value = pixels[at] as number
      if (value < least || value > most || wrong.includes(value)) pixels[at] = none
    }
  }
}
