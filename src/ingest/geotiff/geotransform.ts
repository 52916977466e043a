import { extname } from 'node:path'
import type { GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import type { PixelGrid } from '#src/raster/grid.ts'
import { type Affine, readSmallFile } from './metadata.ts'

/** GTRasterTypeGeoKey: the tie point is the centre of the first pixel. */
const PIXEL_IS_POINT = 2

/** Rounding, in pixels for each column or row. */
const NO_ROTATION = 1e-9

/**
 * As GDAL: the side file, then ModelPixelScale with ModelTiepoint, or ModelTransformation, then a world file.
 * PixelIsPoint shifts by half a pixel; a negative ModelPixelScale counts as positive (OGC GeoTIFF 1.1, section 7.2 and
 * annex B.6).
 */
export function gridOf(
  image: GeoTIFFImage,
  path: string,
  { first, last }: { first: Affine | undefined; last: Affine | undefined },
): PixelGrid {
  const [a, b, c, d, e, f] = first ?? affineOf(image) ?? last ?? refuseUnplaced(image, path)
  if (Math.abs(b) > NO_ROTATION * Math.abs(a) || Math.abs(d) > NO_ROTATION * Math.abs(e)) {
    throw new OperatorError(`${path} has a rotated or sheared grid; warp it to a north-up grid first.`)
  }
  if (
    !(Number.isFinite(c) && Number.isFinite(f)) ||
    !(a > 0) ||
    !Number.isFinite(a) ||
    e === 0 ||
    !Number.isFinite(e)
  ) {
    throw new OperatorError(`${path} has a geotransform with a pixel size of zero, a mirrored one or none.`)
  }
  return {
    originX: c,
    originY: f,
    pixelWidth: a,
    pixelHeight: e,
    width: image.getWidth(),
    height: image.getHeight(),
  }
}

/** As if pixels were areas. */
function affineOf(image: GeoTIFFImage): Affine | undefined {
  const tagged = taggedAffineOf(image)
  if (!tagged) return undefined
  const [a, b, c, d, e, f] = tagged
  const shift = image.getGeoKeys()?.GTRasterTypeGeoKey === PIXEL_IS_POINT ? 0.5 : 0
  return [a, b, c - shift * (a + b), d, e, f - shift * (d + e)]
}

function taggedAffineOf(image: GeoTIFFImage): Affine | undefined {
  const scale = image.fileDirectory.getValue('ModelPixelScale')
  const tie = image.fileDirectory.getValue('ModelTiepoint')
  if (scale && tie && tie.length >= 6) {
    const [column = 0, row = 0, , x = 0, y = 0] = tie
    const [width = 0, height = 0] = scale
    const down = -Math.abs(height)
    return [width, 0, x - column * width, 0, down, y - row * down]
  }
  const matrix = image.fileDirectory.getValue('ModelTransformation')
  if (matrix && matrix.length === 16) {
    const [a = 0, b = 0, , c = 0, d = 0, e = 0, , f = 0] = matrix
    return [a, b, c, d, e, f]
  }
  return undefined
}

function refuseUnplaced(image: GeoTIFFImage, path: string): never {
  const tie = image.fileDirectory.getValue('ModelTiepoint')
  throw new OperatorError(
    tie && tie.length > 6
      ? `${path} is placed by ground control points; warp it to a north-up grid first.`
      : `${path} has no geotransform: it is a snapshot without a place on the Earth.`,
  )
}

/** Six short lines. */
const MAX_WORLD_BYTES = 10_000
const MAX_PRJ_BYTES = 100_000

/** In GDAL's order, each in capitals as well. */
const WORLD_FILES = ['.tfw', '.tifw', '.wld']

/** World files give the centre of the first pixel. */
export async function readWorldFile(imagePath: string): Promise<Affine | undefined> {
  for (const extension of WORLD_FILES) {
    const found = await readBeside(imagePath, extension, MAX_WORLD_BYTES)
    if (found) return affineIn(found.text, found.path)
  }
  return undefined
}

function affineIn(text: string, path: string): Affine {
  // Some locales write decimal commas.
  const numbers = text
    .trim()
    .split(/\s+/)
    .slice(0, 6)
    .map((number) => Number(number.replace(',', '.')))
  if (numbers.length < 6 || !numbers.every(Number.isFinite)) {
    throw new OperatorError(`${path} is not a world file: it does not begin with six numbers.`)
  }
  const [a, d, b, e, x, y] = numbers as [number, number, number, number, number, number]
  return [a, b, x - (a + b) / 2, d, e, y - (d + e) / 2]
}

export async function readPrj(imagePath: string): Promise<string | undefined> {
  return (await readBeside(imagePath, '.prj', MAX_PRJ_BYTES))?.text
}

async function readBeside(
  imagePath: string,
  extension: string,
  maxBytes: number,
): Promise<{ path: string; text: string } | undefined> {
  for (const end of [extension, extension.toUpperCase()]) {
    const path = imagePath.slice(0, imagePath.length - extname(imagePath).length) + end
    const text = await readSmallFile(path, maxBytes)
    if (text !== undefined) return { path, text }
  }
  return undefined
}
