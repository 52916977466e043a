import { GeoTIFF, type GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import { codeOf } from '#src/lib/promises.ts'
import type { Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { refuseInflated, type SampleType } from './bands.ts'
import { type Blocks, blocksOf } from './blocks.ts'
import { examineDirectories, FileBytes } from './directories.ts'

/** Pixels are missing where it is 0. */
export interface Mask {
  path: string
  /** Held for each pixel between windows. */
  heldBytes: number
  /** One array a band (from 1). */
  read(window: Window, bands: number[]): Promise<Pixels[]>
}

interface SideMask extends Mask {
  close(): Promise<void>
}

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

/** `FILE.msk` of GDAL; undefined without one. */
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

/** ExtraSamples that mean alpha. */
const ALPHA = [1, 2]

/** From 1. Only zero matters. */
export function alphaBandOf(image: GeoTIFFImage): number | undefined {
  const extra = Array.from(image.fileDirectory.getValue('ExtraSamples') ?? [])
  const at = extra.findIndex((meaning) => ALPHA.includes(meaning))
  return at < 0 ? undefined : image.getSamplesPerPixel() - extra.length + at + 1
}

export function alphaMask(blocks: Blocks, band: number, path: string): Mask {
  // The other bands hold these bytes already.
  return { path, heldBytes: 0, read: (window, bands) => readOnce(blocks, window, bands, band) }
}

/** One band masks all requested ones. */
async function readOnce(blocks: Blocks, window: Window, bands: number[], band: number): Promise<Pixels[]> {
  const [pixels] = await blocks.read(window, [band])
  return bands.map(() => pixels as Pixels)
}
