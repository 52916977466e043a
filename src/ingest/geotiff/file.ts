import { access, constants, open, stat } from 'node:fs/promises'
import { GeoTIFF, type GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/promises.ts'
import type { PixelGrid, Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { FORMAT_BYTES, refuseOtherFormat } from '../other-formats.ts'
import { type Band, bandOf, refuseAbsurdSize, refuseInflated, sampleTypeOf } from './bands.ts'
import { blocksOf } from './blocks.ts'
import { crsOf, crsOfText, type FileCrs } from './crs.ts'
import { examineDirectories, FileBytes } from './directories.ts'
import { gridOf, readPrj, readWorldFile } from './geotransform.ts'
import { alphaBandOf, alphaMask, internalMask, type Mask, sideMask } from './masks.ts'
import { readInternalMetadata, readSideMetadata, type SideMetadata } from './metadata.ts'

/** Only the first image and its mask. */
export interface RasterFile {
  path: string
  grid: PixelGrid
  crs: FileCrs
  /** Size of strips or tiles. */
  block: { width: number; height: number }
  /** Held for each pixel between windows, masks included. */
  heldBytes: number
  notes: string[]
  /** The pixel of unwritten blocks. */
  fill: number
  /** The compression usually changes pixels. */
  lossy: boolean
  /** @param band from 1 */
  isWritten(window: Window, band: number): boolean
  /** @param fillIsMissing unwritten pixels have no value, so that they take neither memory nor disk */
  refuseInflated(fillIsMissing: boolean): void
  /** Any mask may hide a pixel. */
  masks: Mask[]
  /** The band, from 1, that is a mask. */
  alphaBand: number | undefined
  /** Masks beside the file. */
  maskPaths: string[]
  /** By number from 1, or name. */
  band(named: number | string): Band
  /** Row by row, one array a band (from 1). */
  read(window: Window, bands: number[]): Promise<Pixels[]>
  close(): Promise<void>
}

/** Byte order and version of classic TIFF and BigTIFF. */
const SIGNATURES = ['II*\0', 'MM\0*', 'II+\0', 'MM\0+']

/** @throws {OperatorError} for a file that is missing, unreadable, no TIFF, truncated, too large, or without a grid */
export async function openRaster(path: string): Promise<RasterFile> {
  await refuseUnreadable(path)
  const file = await FileBytes.open(path)
  try {
    return await openImage(file, path)
  } catch (error) {
    await file.close()
    refuseDamaged(path, error, file.fileSize)
  }
}

async function openImage(file: FileBytes, path: string): Promise<RasterFile> {
  const { mask } = await examineDirectories(file, path)
  const tiff = await GeoTIFF.fromSource(file)
  const image = await tiff.getImage()
  refuseAbsurdSize(image, path)
  const type = sampleTypeOf(image, path)
  const blocks = blocksOf(image, type, file, path)
  const side = await readSideMetadata(path)
  const inside = await readInternalMetadata(image, path)
  const grid = gridOf(image, path, { first: side?.geotransform, last: await readWorldFile(path) })
  const alphaBand = alphaBandOf(image)
  const masks = alphaBand === undefined ? [] : [alphaMask(blocks, alphaBand, path)]
  if (mask !== undefined) masks.push(await internalMask(tiff, mask, image, file, path))
  const beside = await sideMask(image, path)
  if (beside) masks.push(beside)
  return {
    path,
    grid,
    ...(await placeOf(image, path, side)),
    block: { width: Math.min(blocks.width, grid.width), height: Math.min(blocks.height, grid.height) },
    heldBytes: [blocks, ...masks].reduce((sum, { heldBytes }) => sum + heldBytes, 0),
    masks: masks.map((mask) => ({
      ...mask,
      read: (window, bands) =>
        mask.read(window, bands).catch((error) => refuseUnreadWindow(mask.path, window, error)),
    })),
    alphaBand,
    fill: blocks.fill,
    lossy: blocks.lossy,
    isWritten: blocks.isWritten,
    refuseInflated: (fillIsMissing) =>
      refuseInflated(image, type, file.fileSize, path, fillIsMissing ? blocks.writtenPart : 1),
    maskPaths: beside ? [beside.path] : [],
    band: (named) => bandOf({ image, type, inside, side, path }, named),
    read: (window, bands) =>
      blocks.read(window, bands).catch((error) => refuseUnreadWindow(path, window, error)),
    close: async () => {
      await beside?.close()
      await file.close()
    },
  }
}

/** From the side file, the keys, or a .prj, which GDAL ignores. */
async function placeOf(
  image: GeoTIFFImage,
  path: string,
  side: SideMetadata | undefined,
): Promise<Pick<RasterFile, 'crs' | 'notes'>> {
  const beside = side?.crs === undefined ? undefined : crsOfText(side.crs)
  const crs = beside ?? crsOf(image)
  if (crs.kind !== 'unknown') return { crs, notes: [] }
  const wkt = await readPrj(path)
  const found = wkt === undefined ? undefined : crsOfText(wkt)
  return found
    ? { crs: found, notes: [`${path} names no CRS: that of the .prj beside it is used.`] }
    : { crs, notes: [] }
}

async function refuseUnreadable(path: string): Promise<void> {
  const status = await stat(path).catch((error) => refuseUnopened(path, error))
  if (!status.isFile()) throw new OperatorError(`${path} is not a file.`)
  await access(path, constants.R_OK).catch((error) => refuseUnopened(path, error))
  const file = await open(path).catch((error) => refuseUnopened(path, error))
  const head = Buffer.alloc(FORMAT_BYTES)
  const { bytesRead } = await file.read(head, 0, head.length, 0).finally(() => file.close())
  const beginning = head.toString('latin1', 0, bytesRead)
  if (!SIGNATURES.includes(beginning.slice(0, 4))) refuseOtherFormat(path, beginning)
}

function refuseUnopened(path: string, error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    throw new OperatorError(`${path} does not exist.`, { code: 'NOT_FOUND' })
  if (error.code === 'EACCES' || error.code === 'EPERM') throw new OperatorError(`${path} may not be read.`)
  throw new OperatorError(`${path} cannot be opened: ${error.message}.`)
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

function refuseUnreadWindow(path: string, { row, height }: Window, error: unknown): never {
  throw new OperatorError(`${path} cannot be read at rows ${row} to ${row + height - 1}: ${reasonIn(error)}.`)
}

function reasonIn(error: unknown): string {
  return messageOf(error).replace(/\.$/, '')
}
