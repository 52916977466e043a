import type { GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import type { PixelType } from '../pixels.ts'

/** What a GeoTIFF says of one of its bands. */
export interface Band {
  pixelType: PixelType
  /** As written in the file: for Float32 pixels it still has to be rounded to one. NaN is possible. */
  nodata: number | undefined
  scale: number
  offset: number
}

/** TIFF SampleFormat values. */
const UNSIGNED = 1
const SIGNED = 2
const FLOAT = 3

/**
 * @param band from 1
 * @throws {OperatorError} when the band is not there or its type cannot be stored
 */
export async function bandOf(image: GeoTIFFImage, band: number, path: string): Promise<Band> {
  const count = image.getSamplesPerPixel()
  if (band > count) {
    throw new OperatorError(`${path} has ${count} band${count === 1 ? '' : 's'}; band ${band} is not there.`)
  }
  const metadata = (await image.getGDALMetadata(band - 1)) ?? {}
  return {
    pixelType: pixelTypeOf(image, band, path),
    nodata: nodataOf(image),
    scale: numberIn(metadata.SCALE) ?? 1,
    offset: numberIn(metadata.OFFSET) ?? 0,
  }
}

function pixelTypeOf(image: GeoTIFFImage, band: number, path: string): PixelType {
  const bits = image.getBitsPerSample(band - 1)
  const format = image.getSampleFormat(band - 1)
  if (format === FLOAT && (bits === 16 || bits === 32)) return '32BF'
  if (format === FLOAT && bits === 64) return '64BF'
  if ((format === UNSIGNED || format === SIGNED) && bits <= 32) {
    const size = bits <= 8 ? 8 : bits <= 16 ? 16 : 32
    return `${size}B${format === SIGNED ? 'SI' : 'UI'}` as PixelType
  }
  throw new OperatorError(
    `Band ${band} of ${path} has ${bits}-bit ${format === FLOAT ? 'floats' : format > FLOAT ? 'complex numbers' : 'integers'}, ` +
      'which cannot be stored; convert it to Float64 or a smaller type.',
  )
}

function nodataOf(image: GeoTIFFImage): number | undefined {
  const text = image.fileDirectory.getValue('GDAL_NODATA') as string | undefined
  return numberIn(text?.replaceAll('\0', ''))
}

function numberIn(text: unknown): number | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined
  const number = Number(text)
  // GDAL writes NaN in lower case; anything else that is not a number says nothing.
  return Number.isNaN(number) && !/^[+-]?nan$/i.test(text.trim()) ? undefined : number
}
