import { access, constants, open, stat } from 'node:fs/promises'
import { fromFile, type GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import type { Grid, Window } from '../grid.ts'
import type { Pixels } from '../pixels.ts'
import { type Band, bandOf } from './bands.ts'
import { crsOf, type FileCrs } from './crs.ts'
import { gridOf } from './geotransform.ts'

/** An open GeoTIFF: its grid and CRS, and its pixels in windows. Only the first image is read. */
export interface RasterFile {
  path: string
  grid: Omit<Grid, 'srid'>
  crs: FileCrs
  /** Size of the strips or tiles that the file is compressed in, in pixels. */
  block: { width: number; height: number }
  /** What the operator should know though it does not stop the load. */
  warnings: string[]
  band(band: number): Promise<Band>
  /** The pixels of some bands (from 1) in a window, row by row, one array a band. */
  read(window: Window, bands: number[]): Promise<Pixels[]>
  close(): Promise<void>
}

/** Byte order mark and version of classic TIFF and BigTIFF. */
const SIGNATURES = ['II*\0', 'MM\0*', 'II+\0', 'MM\0+']
/** NewSubfileType bit of a transparency mask. */
const MASK = 4

/**
 * Opens a GeoTIFF and checks that all of it is there.
 *
 * @throws {OperatorError} when it is missing, may not be read, is no TIFF, is cut off or has no grid
 */
export async function openRaster(path: string): Promise<RasterFile> {
  await refuseUnreadable(path)
  const tiff = await fromFile(path).catch((error) => refuseDamaged(path, error))
  try {
    const image = await tiff.getImage().catch((error) => refuseDamaged(path, error))
    await refuseTruncated(image, path)
    const grid = gridOf(image, path)
    return {
      path,
      grid,
      crs: crsOf(image),
      block: {
        width: Math.min(image.getTileWidth(), grid.width),
        height: Math.min(image.getTileHeight(), grid.height),
      },
      warnings: (await hasMask(tiff))
        ? [`${path} has an internal mask, which is not read: use a nodata value.`]
        : [],
      band: (band) => bandOf(image, band, path),
      read: (window, bands) => readWindow(image, path, window, bands),
      close: async () => {
        await tiff.close()
      },
    }
  } catch (error) {
    await tiff.close()
    throw error
  }
}

async function refuseUnreadable(path: string): Promise<void> {
  const status = await stat(path).catch((error) => refuseUnopened(path, error))
  if (!status.isFile()) throw new OperatorError(`${path} is not a file.`)
  await access(path, constants.R_OK).catch((error) => refuseUnopened(path, error))
  const file = await open(path).catch((error) => refuseUnopened(path, error))
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0).finally(() => file.close())
  if (bytesRead < 4 || !SIGNATURES.includes(buffer.toString('latin1'))) {
    throw new OperatorError(`${path} is not a TIFF file.`)
  }
}

function refuseUnopened(path: string, error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') throw new OperatorError(`${path} does not exist.`)
  if (error.code === 'EACCES' || error.code === 'EPERM') throw new OperatorError(`${path} may not be read.`)
  throw new OperatorError(`${path} cannot be opened: ${error.message}.`)
}

function refuseDamaged(path: string, error: Error): never {
  throw new OperatorError(`${path} is damaged or not a GeoTIFF: ${error.message.replace(/\.$/, '')}.`)
}

/** A file whose end is missing would read as zeros there: look at where its blocks should lie first. */
async function refuseTruncated(image: GeoTIFFImage, path: string): Promise<void> {
  const { size } = await stat(path)
  const [offsets, counts] = await Promise.all(
    image.isTiled
      ? [image.fileDirectory.loadValue('TileOffsets'), image.fileDirectory.loadValue('TileByteCounts')]
      : [image.fileDirectory.loadValue('StripOffsets'), image.fileDirectory.loadValue('StripByteCounts')],
  ).catch((error) => refuseDamaged(path, error))
  const starts = Array.from((offsets ?? []) as ArrayLike<number | bigint>, Number)
  const lengths = Array.from((counts ?? []) as ArrayLike<number | bigint>, Number)
  const missing = starts.findIndex((start, index) => start + (lengths[index] ?? Number.NaN) > size)
  if (starts.length === 0 || starts.length !== lengths.length || missing >= 0) {
    throw new OperatorError(
      `${path} is cut off: its last ${image.isTiled ? 'tiles' : 'strips'} are not there.`,
    )
  }
}

async function hasMask(tiff: Awaited<ReturnType<typeof fromFile>>): Promise<boolean> {
  const count = await tiff.getImageCount()
  for (let index = 1; index < count; index++) {
    const image = await tiff.getImage(index)
    const type = Number(image.fileDirectory.getValue('NewSubfileType') ?? 0)
    if ((type & MASK) !== 0) return true
  }
  return false
}

async function readWindow(
  image: GeoTIFFImage,
  path: string,
  window: Window,
  bands: number[],
): Promise<Pixels[]> {
  const { column, row, width, height } = window
  try {
    const rasters = await image.readRasters({
      window: [column, row, column + width, row + height],
      samples: bands.map((band) => band - 1),
      interleave: false,
    })
    return rasters as unknown as Pixels[]
  } catch (error) {
    throw new OperatorError(
      `${path} cannot be read at rows ${row} to ${row + height - 1}: ${(error as Error).message.replace(/\.$/, '')}.`,
    )
  }
}
