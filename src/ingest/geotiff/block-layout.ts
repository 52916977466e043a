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

// geotiff reads large tags late, and then as little-endian: eager reading uses the file's byte order.
registerTag(273, 'StripOffsets', 'LONG', true, true)
registerTag(279, 'StripByteCounts', 'LONG', true, true)
registerTag(324, 'TileOffsets', 'LONG', true, true)
registerTag(325, 'TileByteCounts', 'LONG', true, true)
// Shared by the blocks.
registerTag(347, 'JPEGTables', 'UNDEFINED', true, true)

/** Blocks are strips or tiles. */
export interface BlockLayout {
  image: { width: number; height: number }
  tiled: boolean
  block: { width: number; height: number }
  /** Bands in blocks of their own, or 1. */
  planes: number
  /** Interleaved samples of a pixel in a block. */
  stride: number
  offsets: number[]
  lengths: number[]
  /** Reversed bits in each byte. */
  turned: boolean
  /** Pieces of a strip that decompresses only from its beginning. */
  piecesPerStrip?: number
  samples: SampleLayout
  compression: Compression
  /** The compression usually changes pixels. */
  lossy: boolean
  /** The pixel of unwritten blocks. */
  fill: number
}

/** Refuses truncated files. */
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

/** The last strip ends with the image; tiles are whole. */
export function rowsOf({ image, tiled, block }: BlockLayout, row: number): number {
  return tiled ? block.height : Math.min(block.height, image.height - row * block.height)
}

export function isWritten({ offsets, lengths }: BlockLayout, index: number): boolean {
  return offsets[index] !== 0 && lengths[index] !== 0
}

/** Compressions that need tags. */
const JPEG = 7
const LERC = 34887

const LOWEST_FIRST = 2

/** PhotometricInterpretation: luminance and two colour differences. */
const YCBCR = 6

/** One of geotiff's known tags; it reads others too. */
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
    // JPEG fixes its bit order.
    turned: tag('FillOrder') === LOWEST_FIRST && compression !== JPEG,
    // Others ignore the Predictor tag.
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

/** A single strip of 0 bytes gets its real length, as in GDAL. Several empty blocks are unwritten ones. */
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

/** Before any pixel is loaded. */
function refuseTruncated(layout: BlockLayout, file: FileBytes, path: string): void {
  const { image, block, planes, offsets, lengths } = layout
  const count = Math.ceil(image.width / block.width) * Math.ceil(image.height / block.height) * planes
  const missing = offsets.some((offset, index) => offset + (lengths[index] ?? Number.NaN) > file.fileSize)
  // Blocks without a size give Infinity or NaN.
  if (missing || !(count > 0) || offsets.length < count || lengths.length < count) {
    throw new OperatorError(
      `${path} is cut off or damaged: not all of its ${layout.tiled ? 'tiles' : 'strips'} are there.`,
      { code: 'CUT_OFF' },
    )
  }
}

/** Decompressed at a time. Blocks of GDAL have some kilobytes; a few writers make one strip. */
export const MAX_BLOCK_BYTES = 64 * 2 ** 20

/** Half-precision floats grow in memory. */
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

/** Rows are grouped to about this size. */
const CHOPPED_BYTES = 64 * 1024

/** Smaller blocks decompress faster at once. */
const STREAMED_BYTES = 4 * 2 ** 20

/** Reads the rows of a single strip in pieces, to save memory: uncompressed ones by offset, others in order. */
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
