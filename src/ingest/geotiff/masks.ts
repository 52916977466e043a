import { GeoTIFF, type GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import { codeOf } from '#src/lib/promises.ts'
import type { Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { refuseInflated, type SampleType } from './bands.ts'
import { type Blocks, blocksOf } from './blocks.ts'
import { examineDirectories, FileBytes } from './directories.ts'

/** What says which pixels of an image have no value: those where it is 0. */
export interface Mask {
  /** The file that it is in. */
  path: string
  /** Bytes that are held of each pixel from one window to the next. */
  heldBytes: number
  /** The mask of some bands (from 1) in a window, one array a band. */
  read(window: Window, bands: number[]): Promise<Pixels[]>
}

/** A mask in a file beside the image's. */
interface SideMask extends Mask {
  close(): Promise<void>
}

/** The directory of a file that is the mask of its first image. */
export async function internalMask(
  tiff: GeoTIFF,
  index: number,
  of: GeoTIFFImage,
  file: FileBytes,
  path: string,
): Promise<Mask> {
  const mask = await tiff.getImage(index)
  return maskIn(mask, of, file, path, 'an internal mask')
}

/**
 * The mask in `FILE.msk`, as GDAL writes it; undefined where there is none.
 *
 * @throws {OperatorError} when it cannot be used
 */
export async function sideMask(of: GeoTIFFImage, imagePath: string): Promise<SideMask | undefined> {
  const path = `${imagePath}.msk`
  const file = await FileBytes.open(path).catch((error) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new OperatorError(`${path}, the mask of ${imagePath}, cannot be opened: ${error.message}.`)
  })
  if (!file) return undefined
  try {
    await examineDirectories(file, path)
    const image = await (await GeoTIFF.fromSource(file)).getImage()
    return { ...maskIn(image, of, file, path, 'a mask'), close: () => file.close() }
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
  const type = maskTypeOf(mask, path, kind)
  refuseInflated(mask, type, file.fileSize, path)
  const blocks = blocksOf(mask, type, file, path)
  if (blocks.lossy) {
    throw new OperatorError(`${path} has ${kind} that is compressed with loss: its zeros are not reliable.`)
  }
  const { heldBytes } = blocks
  if (count > 1) return { path, heldBytes, read: blocks.read }
  return { path, heldBytes, read: (window, bands) => readOnce(blocks, window, bands, 1) }
}

function maskTypeOf(mask: GeoTIFFImage, path: string, kind: string): SampleType {
  const bits = mask.getBitsPerSample(0)
  const one = mask.getSamplesPerPixel() === 1
  if (bits === 1 && one) return { pixelType: '8BUI', bytes: 1 / 8, float: false, packed: true }
  if (bits === 8) return { pixelType: '8BUI', bytes: 1, float: false }
  throw new OperatorError(`${path} has ${kind} of ${bits}-bit pixels; masks of 1 or 8 bits are read.`)
}

/** Values of the ExtraSamples tag that mean alpha. */
const ALPHA = [1, 2]

/**
 * The band, from 1, that says how much there is of the others; undefined where there is none. What it has is
 * of no interest but whether it is nothing.
 */
export function alphaBandOf(image: GeoTIFFImage): number | undefined {
  const extra = Array.from(image.fileDirectory.getValue('ExtraSamples') ?? [])
  const at = extra.findIndex((meaning) => ALPHA.includes(meaning))
  return at < 0 ? undefined : image.getSamplesPerPixel() - extra.length + at + 1
}

export function alphaMask(blocks: Blocks, band: number, path: string): Mask {
  // What is held is held already, for the other bands.
  return { path, heldBytes: 0, read: (window, bands) => readOnce(blocks, window, bands, band) }
}

/** One band, which is the mask of all that are asked for. */
async function readOnce(blocks: Blocks, window: Window, bands: number[], band: number): Promise<Pixels[]> {
  const [pixels] = await blocks.read(window, [band])
  return bands.map(() => pixels as Pixels)
}
