import { stat } from 'node:fs/promises'
import { GeoTIFF, type GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import type { PixelGrid } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import {
  FORMAT_BYTES,
  refuseNoFile,
  refuseOtherFormat,
  refuseUnreadable,
  stemOf,
  TIFF_SIGNATURES,
} from '../other-formats.ts'
import { loadReaders, type Mask, type RasterFile } from '../readers.ts'
import {
  type Affine,
  readBand,
  readInternalMetadata,
  readSampleType,
  readSideMetadata,
  readSmallFile,
  readWords,
  refuseAbsurdSize,
  refuseInflated,
  type SampleType,
  type SideMetadata,
} from './bands.ts'
import { type Blocks, openBlocks } from './blocks.ts'
import { parseCrs, readCrs } from './crs.ts'
import { examineDirectories, FileBytes } from './directories.ts'

/** GTRasterTypeGeoKey: the tie point is the centre of the first pixel. */
const PIXEL_IS_POINT = 2

/** Rounding, in pixels for each column or row. */
const NO_ROTATION = 1e-9

/**
 * As GDAL: the side file, then ModelPixelScale with ModelTiepoint, or ModelTransformation, then a world file.
 * PixelIsPoint shifts by half a pixel; a negative ModelPixelScale counts as positive (OGC GeoTIFF 1.1, section 7.2 and
 * annex B.6).
 */
function readGrid(
  image: GeoTIFFImage,
  path: string,
  { first, last }: { first: Affine | undefined; last: Affine | undefined },
): PixelGrid {
  const [a, b, c, d, e, f] = first ?? readAffine(image) ?? last ?? refuseUnplaced(image, path)
  if (Math.abs(b) > NO_ROTATION * Math.abs(a) || Math.abs(d) > NO_ROTATION * Math.abs(e)) {
    throw new OperatorError(`${path} has a rotated or sheared grid; warp it to a north-up grid first.`)
  }
  if (![a, c, e, f].every(Number.isFinite) || a <= 0 || e === 0) {
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
function readAffine(image: GeoTIFFImage): Affine | undefined {
  const tagged = readTaggedAffine(image)
  if (!tagged) return undefined
  const [a, b, c, d, e, f] = tagged
  const shift = image.getGeoKeys()?.GTRasterTypeGeoKey === PIXEL_IS_POINT ? 0.5 : 0
  return [a, b, c - shift * (a + b), d, e, f - shift * (d + e)]
}

function readTaggedAffine(image: GeoTIFFImage): Affine | undefined {
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
async function readWorldFile(imagePath: string): Promise<Affine | undefined> {
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

async function readBeside(imagePath: string, extension: string, maxBytes: number) {
  for (const end of [extension, extension.toUpperCase()]) {
    const path = stemOf(imagePath) + end
    const text = await readSmallFile(path, maxBytes)
    if (text !== undefined) return { path, text }
  }
  return undefined
}

/** `FILE.msk` of GDAL; undefined without one. */
async function sideMask(of: GeoTIFFImage, imagePath: string) {
  const path = `${imagePath}.msk`
  const file = await FileBytes.open(path).catch((error) => {
    if (readErrorCode(error) === 'ENOENT') return undefined
    throw new OperatorError(`${path}, the mask of ${imagePath}, cannot be opened: ${error.message}.`)
  })
  if (!file) return undefined
  try {
    await examineDirectories(file, path)
    const image = await (await GeoTIFF.fromSource(file)).getImage()
    const mask = maskIn(image, of, file, path, 'a mask')
    return {
      ...mask,
      async close() {
        await mask.close?.()
        await file.close()
      },
    }
  } catch (error) {
    await file.close()
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`${path}, the mask of ${imagePath}, is damaged or not a TIFF file.`)
  }
}

function maskIn(mask: GeoTIFFImage, of: GeoTIFFImage, file: FileBytes, path: string, kind: string): Mask {
  const [width, height] = [of.getWidth(), of.getHeight()]
  if (mask.getWidth() !== width || mask.getHeight() !== height) {
    throw new OperatorError(
      `${path} has ${kind} of ${mask.getWidth()} x ${mask.getHeight()} pixels, and its image has ${width} x ${height}.`,
    )
  }
  const count = mask.getSamplesPerPixel()
  if (count !== 1 && count < of.getSamplesPerPixel()) {
    throw new OperatorError(
      `${path} has ${kind} of ${count} bands, and its image has ${of.getSamplesPerPixel()}.`,
    )
  }
  const type = readMaskType(mask, path, kind)
  refuseInflated(mask, type, file.fileSize, path)
  const blocks = openBlocks(mask, type, file, path)
  if (blocks.lossy) {
    throw new OperatorError(`${path} has ${kind} that is compressed with loss: its zeros are not reliable.`)
  }
  return count > 1 ? { path, ...blocks } : { path, ...blocks, read: readingOnce(blocks, 1) }
}

function readMaskType(mask: GeoTIFFImage, path: string, kind: string): SampleType {
  const bits = mask.getBitsPerSample(0)
  const one = mask.getSamplesPerPixel() === 1
  if (bits === 1 && one) return { pixelType: '8BUI', bytes: 1 / 8, float: false, packed: true }
  if (bits === 8) return { pixelType: '8BUI', bytes: 1, float: false }
  throw new OperatorError(`${path} has ${kind} of ${bits}-bit pixels; masks of 1 or 8 bits are read.`)
}

/** ExtraSamples that mean alpha. */
const ALPHA = [1, 2]

/** From 1. Only zero matters. */
function findAlphaBand(image: GeoTIFFImage): number | undefined {
  const extra = Array.from(image.fileDirectory.getValue('ExtraSamples') ?? [])
  const at = extra.findIndex((meaning) => ALPHA.includes(meaning))
  return at < 0 ? undefined : image.getSamplesPerPixel() - extra.length + at + 1
}

/** One band masks all requested ones. */
function readingOnce(blocks: Blocks, band: number): Mask['read'] {
  return async (window, bands) => {
    const [pixels] = await blocks.read(window, [band])
    return bands.map(() => pixels as Pixels)
  }
}

/** @throws {OperatorError} for other files than rasters that are read, with the line of GDAL that makes a GeoTIFF */
export async function openRaster(path: string): Promise<RasterFile> {
  const refuse = (error: NodeJS.ErrnoException) => refuseUnreadable(path, error)
  const found = await stat(path).catch(refuse)
  if (!found.isFile()) return (await openOther(path, '')) ?? refuseNoFile(path, found)
  const file = await FileBytes.open(path).catch(refuse)
  try {
    const { data } = await file.fetchSlice({ offset: 0, length: FORMAT_BYTES })
    const beginning = Buffer.from(data).toString('latin1')
    if (TIFF_SIGNATURES.includes(beginning.slice(0, 4))) return await openImage(file, path)
    const other = await openOther(path, beginning)
    if (!other) refuseOtherFormat(path, beginning)
    await file.close()
    return other
  } catch (error) {
    await file.close()
    refuseDamaged(path, error, file.fileSize)
  }
}

/** By an extension. */
async function openOther(path: string, beginning: string): Promise<RasterFile | undefined> {
  for (const reader of await loadReaders()) {
    const file = await reader.open(path, beginning)
    if (file) return file
  }
  return undefined
}

/** Only the first image and its mask. */
async function openImage(file: FileBytes, path: string): Promise<RasterFile> {
  const { mask } = await examineDirectories(file, path)
  const tiff = await GeoTIFF.fromSource(file)
  const image = await tiff.getImage()
  refuseAbsurdSize(image, path)
  const type = readSampleType(image, path)
  const blocks = openBlocks(image, type, file, path)
  const side = await readSideMetadata(path)
  const inside = await readInternalMetadata(image, path)
  const grid = readGrid(image, path, { first: side?.geotransform, last: await readWorldFile(path) })
  const alphaBand = findAlphaBand(image)
  const masks: Mask[] = []
  if (alphaBand !== undefined) masks.push({ path, read: readingOnce(blocks, alphaBand) })
  if (mask !== undefined) masks.push(maskIn(await tiff.getImage(mask), image, file, path, 'an internal mask'))
  const beside = await sideMask(image, path)
  if (beside) masks.push(beside)
  return {
    ...blocks,
    path,
    grid,
    ...(await readPlace(image, path, side)),
    block: { width: Math.min(blocks.width, grid.width), height: Math.min(blocks.height, grid.height) },
    bandCount: image.getSamplesPerPixel(),
    words: (band) => readWords({ image, type, inside, side, path }, band),
    masks: masks.map((mask) => ({ ...mask, read: explained(mask) })),
    alphaBand,
    refuseInflated: (fillIsMissing) =>
      refuseInflated(image, type, file.fileSize, path, fillIsMissing ? blocks.writtenPart() : 1),
    maskPaths: beside ? [beside.path] : [],
    band: (entry, notes) => readBand({ image, type, inside, side, path }, entry, notes),
    read: explained({ path, read: blocks.read }),
    async close() {
      for (const { close } of [blocks, ...masks]) await close?.()
      await file.close()
    },
  }
}

/** From the side file, the keys, or a .prj, which GDAL ignores. */
async function readPlace(image: GeoTIFFImage, path: string, side: SideMetadata | undefined) {
  const beside = side?.crs === undefined ? undefined : parseCrs(side.crs)
  const crs = beside ?? readCrs(image)
  if (crs.kind !== 'unknown') return { crs, notes: [] }
  const wkt = (await readBeside(path, '.prj', MAX_PRJ_BYTES))?.text
  const found = wkt === undefined ? undefined : parseCrs(wkt)
  return found
    ? { crs: found, notes: [`${path} names no CRS: that of the .prj beside it is used.`] }
    : { crs, notes: [] }
}

function refuseDamaged(path: string, error: unknown, fileSize: number): never {
  if (error instanceof OperatorError) throw error
  // geotiff's error for tags beyond the end of the file.
  const reason =
    error instanceof RangeError
      ? `a tag of it lies beyond byte ${fileSize}, where the file ends`
      : reasonIn(error)
  throw new OperatorError(
    `${path} is cut off, damaged or not a GeoTIFF: its directory cannot be read (${reason}).`,
    { code: 'CUT_OFF' },
  )
}

/** Errors name the file and the rows. */
function explained({ path, read }: Pick<Mask, 'path' | 'read'>): Mask['read'] {
  return (window, bands) =>
    read(window, bands).catch((error) => {
      const rows = `rows ${window.row} to ${window.row + window.height - 1}`
      throw new OperatorError(`${path} cannot be read at ${rows}: ${reasonIn(error)}.`)
    })
}

function reasonIn(error: unknown): string {
  return formatError(error).replace(/\.$/, '')
}
