import { type GeoTIFFImage, registerTag } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import { bytesOf, nearestPixel } from '#src/raster/pixels.ts'
import { conversion } from '../other-formats.ts'
import { nodataOf, type SampleType } from './bands.ts'
import {
  COMPRESSIONS,
  type Compression,
  LOSSY,
  lercOf,
  NOT_COMPRESSED,
  OTHER_COMPRESSIONS,
} from './compression.ts'
import type { FileBytes } from './directories.ts'
import { DECODED_PIXEL_BYTES, decodeJpeg, sharedTablesOf } from './jpeg.ts'
import { bytesOfRow, PREDICTORS, type SampleLayout } from './samples.ts'

// geotiff leaves large tags until they are asked for, and then takes them for little-endian: have it
// read where the blocks are at once, in the byte order of the file.
registerTag(273, 'StripOffsets', 'LONG', true, true)
registerTag(279, 'StripByteCounts', 'LONG', true, true)
registerTag(324, 'TileOffsets', 'LONG', true, true)
registerTag(325, 'TileByteCounts', 'LONG', true, true)
// And what its blocks share.
registerTag(347, 'JPEGTables', 'UNDEFINED', true, true)

/** How the pixels of an image are stored: in strips or tiles, which are called blocks here. */
export interface BlockLayout {
  image: { width: number; height: number }
  tiled: boolean
  block: { width: number; height: number }
  /** Blocks of one band after those of another, or of all bands together. */
  planes: number
  /** Samples that lie side by side in a block for each pixel. */
  stride: number
  offsets: number[]
  lengths: number[]
  /** Whether the lowest bit of each byte in the file is its highest. */
  turned: boolean
  /** Where a strip can only be read from its beginning: how many blocks are in one, each of which has its place. */
  piecesPerStrip?: number
  samples: SampleLayout
  compression: Compression
  /** Whether the compression has mostly changed the pixels. */
  lossy: boolean
  /** What blocks that were never written are full of. */
  fill: number
}

/**
 * Finds the blocks of an image and checks that the file has all of them.
 *
 * @throws {OperatorError} when it has not, or stores them in a way that cannot be read
 */
export function blockLayoutOf(
  image: GeoTIFFImage,
  type: SampleType,
  file: FileBytes,
  path: string,
): BlockLayout {
  const stored = measured(storedLayoutOf(image, type, path), file)
  refuseTruncated(stored, file, path)
  const layout = chopped(stored)
  refuseLargeBlocks(layout, path)
  return layout
}

/** How many rows of pixels a block has: the last strip ends with the image; tiles are always whole. */
export function rowsOf({ image, tiled, block }: BlockLayout, row: number): number {
  return tiled ? block.height : Math.min(block.height, image.height - row * block.height)
}

/** Sparse files leave out blocks. */
export function isWritten({ offsets, lengths }: BlockLayout, index: number): boolean {
  return offsets[index] !== 0 && lengths[index] !== 0
}

/** Values of the Compression tag whose blocks need more than themselves to be read. */
const JPEG = 7
const LERC = 34887

/** FillOrder: the first bit of a byte is its lowest. */
const LOWEST_FIRST = 2

/** PhotometricInterpretation: luminance and two differences of colours. */
const YCBCR = 6

/** A tag that geotiff has a type for: it gives the others as well. */
type KnownTag = Parameters<GeoTIFFImage['fileDirectory']['getValue']>[0]

function storedLayoutOf(image: GeoTIFFImage, type: SampleType, path: string): BlockLayout {
  const tag = (name: string): unknown => image.fileDirectory.getValue(name as KnownTag)
  const compression = Number(tag('Compression') ?? NOT_COMPRESSED)
  const planes = image.planarConfiguration === 2 ? image.getSamplesPerPixel() : 1
  const stride = planes === 1 ? image.getSamplesPerPixel() : 1
  const block = { width: image.getTileWidth(), height: image.getTileHeight() }
  const method = methodOf(image, type, compression, { ...block, depth: stride })
  if (!method) {
    const name = OTHER_COMPRESSIONS[compression] ?? `method ${compression}`
    const loss = LOSSY.has(compression) ? ', and may have changed its values' : ''
    throw new OperatorError(
      `${path} is compressed with ${name}, which is not read here${loss}: ${conversion(path)} makes a file that is.`,
    )
  }
  const predictor = Number(tag('Predictor') ?? PREDICTORS.none)
  const known = Object.values<number>(PREDICTORS).includes(predictor)
  if (!known || (predictor === PREDICTORS.floatingPoint && !type.float)) {
    throw new OperatorError(`${path} is compressed with predictor ${predictor}, which is not possible.`)
  }
  const numbers = (name: string) => Array.from((tag(name) ?? []) as ArrayLike<number | bigint>, Number)
  return {
    image: { width: image.getWidth(), height: image.getHeight() },
    tiled: image.isTiled,
    block,
    planes,
    stride,
    offsets: numbers(image.isTiled ? 'TileOffsets' : 'StripOffsets'),
    lengths: numbers(image.isTiled ? 'TileByteCounts' : 'StripByteCounts'),
    // JPEG says itself how its bits lie.
    turned: tag('FillOrder') === LOWEST_FIRST && compression !== JPEG,
    // Samples of these are stored as they are, whatever the Predictor tag says.
    samples: {
      ...type,
      littleEndian: image.littleEndian,
      predictor: [NOT_COMPRESSED, JPEG, LERC].includes(compression) ? PREDICTORS.none : predictor,
    },
    compression: method,
    lossy: LOSSY.has(compression),
    fill: nearestPixel(type.pixelType, nodataOf(image) ?? 0),
  }
}

/** How blocks are decompressed; undefined where they cannot be. */
function methodOf(
  image: GeoTIFFImage,
  { pixelType, packed }: SampleType,
  compression: number,
  room: { width: number; height: number; depth: number },
): Compression | undefined {
  const tag = (name: string): unknown => image.fileDirectory.getValue(name as KnownTag)
  if (compression === LERC && image.littleEndian) {
    return lercOf(pixelType, room, tag('LercParameters') as ArrayLike<number> | undefined)
  }
  const isLuminance = tag('PhotometricInterpretation') === YCBCR
  const depths = isLuminance ? [3] : [1, 3]
  if (compression === JPEG && pixelType === '8BUI' && !packed && depths.includes(room.depth)) {
    const tables = sharedTablesOf(Uint8Array.from((tag('JPEGTables') ?? []) as ArrayLike<number>))
    return {
      undo: (bytes) => decodeJpeg(bytes, tables, { ...room, isLuminance }),
      pixelBytes: DECODED_PIXEL_BYTES,
    }
  }
  return COMPRESSIONS.get(compression)
}

/**
 * Finds out how long the only strip of an image is where it is said to have 0 bytes, as GDAL does. Of several
 * blocks, GDAL takes those for never written, and so do we.
 */
function measured(layout: BlockLayout, file: FileBytes): BlockLayout {
  const { image, block, tiled, offsets, lengths, samples, stride, compression } = layout
  const [offset, said] = [offsets[0] ?? 0, lengths[0]]
  if (tiled || offsets.length > 1 || offset === 0 || said !== 0) return layout
  const length =
    compression === COMPRESSIONS.get(NOT_COMPRESSED)
      ? bytesOfRow(samples, block.width * stride) * image.height
      : file.fileSize - offset
  return { ...layout, lengths: [length] }
}

/** A file whose end is missing is refused before any of it is loaded. */
function refuseTruncated(layout: BlockLayout, file: FileBytes, path: string): void {
  const { image, block, planes, offsets, lengths } = layout
  const count = Math.ceil(image.width / block.width) * Math.ceil(image.height / block.height) * planes
  const missing = offsets.some((offset, index) => offset + (lengths[index] ?? Number.NaN) > file.fileSize)
  // Infinity and NaN, from blocks without a size, are no count.
  if (missing || !(count > 0) || offsets.length < count || lengths.length < count) {
    throw new OperatorError(
      `${path} is cut off or damaged: not all of its ${layout.tiled ? 'tiles' : 'strips'} are there.`,
      { code: 'CUT_OFF' },
    )
  }
}

/**
 * What is decompressed at a time: one block of this size, or many that are smaller. Blocks of GDAL and of what
 * is built on it have some kilobytes; a few writers make one strip of an image.
 */
export const MAX_BLOCK_BYTES = 64 * 2 ** 20

/** What the pixels of a block take; half-precision floats become larger in memory. */
export function blockBytes({ block, stride, samples, compression }: BlockLayout): number {
  const pixelBytes = Math.max(stride * bytesOf(samples.pixelType), compression.pixelBytes ?? 0)
  return block.width * block.height * pixelBytes
}

function refuseLargeBlocks(layout: BlockLayout, path: string): void {
  const bytes = blockBytes(layout)
  if (bytes <= MAX_BLOCK_BYTES) return
  throw new OperatorError(
    `${path} has ${layout.tiled ? 'tiles' : 'strips'} of ${bytes} bytes; at most ${MAX_BLOCK_BYTES} are decompressed at a time: convert it with gdal_translate -co TILED=YES -co COMPRESS=DEFLATE.`,
  )
}

/** Rows are taken together up to about this size. */
const CHOPPED_BYTES = 64 * 1024

/** A smaller block is decompressed at once, which is faster. */
const STREAMED_BYTES = 4 * 2 ** 20

/**
 * Some writers store an image as one strip. Its rows can be read some at a time all the same, so that a window
 * does not need the memory of the whole image: where it is not compressed from their place in the file, else one
 * after the other.
 */
function chopped(layout: BlockLayout): BlockLayout {
  const { image, block, tiled, compression, offsets, lengths, samples, stride } = layout
  if (tiled || block.height < image.height) return layout
  const rowBytes = bytesOfRow(samples, image.width * stride)
  const height = Math.max(1, Math.floor(CHOPPED_BYTES / rowBytes))
  const rows = Array.from({ length: Math.ceil(image.height / height) }, (_, index) => index * height)
  const inPieces = { ...layout, block: { width: block.width, height } }
  if (compression === COMPRESSIONS.get(NOT_COMPRESSED)) {
    if (lengths.some((length) => length < rowBytes * image.height)) return layout
    return {
      ...inPieces,
      offsets: offsets.flatMap((offset) => rows.map((row) => offset + row * rowBytes)),
      lengths: offsets.flatMap(() => rows.map((row) => Math.min(height, image.height - row) * rowBytes)),
    }
  }
  if (!compression.stream || blockBytes(layout) <= STREAMED_BYTES) return layout
  return {
    ...inPieces,
    piecesPerStrip: rows.length,
    offsets: offsets.flatMap((offset) => rows.map(() => offset)),
    lengths: lengths.flatMap((length) => rows.map(() => length)),
  }
}
