import type { GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import type { GridSize } from '#src/raster/grid.ts'
import type { SampleType } from './bands.ts'

/** A country at 10 m has about 150,000 pixels a side. */
const MAX_SIDE = 250_000
const MAX_PIXELS = 10_000_000_000
const MAX_BANDS = 4096

/** Images up to here may be as empty as they like: sparse files and those of one value are small. */
const UNSUSPICIOUS_BYTES = 2 ** 30
/** DEFLATE makes 1,032 bytes of one at most, and no raster of measurements comes near it. */
const MAX_RATIO = 1000

/** @throws {OperatorError} where the image has more pixels than are read, or says so without a reason */
export function refuseAbsurdSize(image: GeoTIFFImage, path: string): void {
  const [width, height, bands] = [image.getWidth(), image.getHeight(), image.getSamplesPerPixel()]
  if (![width, height, bands].every((size) => Number.isInteger(size) && size > 0)) {
    throw new OperatorError(`${path} is damaged: its size is not a number of pixels.`)
  }
  refuseAbsurdGrid({ width, height }, path)
  if (bands > MAX_BANDS) {
    throw new OperatorError(`${path} has ${bands} bands; at most ${MAX_BANDS} are read.`)
  }
}

/** @throws {OperatorError} where a grid has more pixels than are read */
export function refuseAbsurdGrid({ width, height }: GridSize, path: string): void {
  if (Math.max(width, height) <= MAX_SIDE && width * height <= MAX_PIXELS) return
  throw new OperatorError(
    `${path} has ${width} x ${height} pixels; at most ${MAX_SIDE} a side and ${MAX_PIXELS} in all are read: cut it with gdal_translate -projwin.`,
  )
}

/**
 * @param part of the image that counts
 * @throws {OperatorError} where the pixels of a large image cannot come from so small a file
 */
export function refuseInflated(
  image: GeoTIFFImage,
  { bytes }: SampleType,
  fileSize: number,
  path: string,
  part = 1,
): void {
  const declared = Math.ceil(part * image.getWidth() * image.getHeight() * image.getSamplesPerPixel() * bytes)
  if (declared <= UNSUSPICIOUS_BYTES || declared <= MAX_RATIO * fileSize) return
  throw new OperatorError(
    `${path} has ${fileSize} bytes and says that they hold ${declared} bytes of pixels: more than ${MAX_RATIO} for one are not read of an image over ${UNSUSPICIOUS_BYTES} bytes.`,
  )
}
