import { type GeoTIFFImage, registerTag } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import type { Window } from '#src/raster/grid.ts'
import { bytesOf, createPixels, nearestPixel, type Pixels } from '#src/raster/pixels.ts'
import { conversion } from '../other-formats.ts'
import { readNodata, type SampleType } from './bands.ts'
import {
  COMPRESSIONS,
  type Compression,
  createLerc,
  type DecompressStream,
  LOSSY_COMPRESSIONS,
  NOT_COMPRESSED,
  OTHER_COMPRESSIONS,
} from './compression.ts'
import { FileBytes, type Slice } from './directories.ts'
import { DECODED_PIXEL_BYTES, decodeJpeg, readSharedTables } from './jpeg.ts'
import { bytesOfRow, decodeSamples, PREDICTORS } from './samples.ts'

// geotiff reads large tags late, and then as little-endian: eager reading uses the file's byte order.
registerTag(273, 'StripOffsets', 'LONG', true, true)
registerTag(279, 'StripByteCounts', 'LONG', true, true)
registerTag(324, 'TileOffsets', 'LONG', true, true)
registerTag(325, 'TileByteCounts', 'LONG', true, true)
// Shared by the blocks.
registerTag(347, 'JPEGTables', 'UNDEFINED', true, true)

/** Blocks are strips or tiles. */
type BlockLayout = ReturnType<typeof readStoredLayout>

function isWritten({ offsets, lengths }: BlockLayout, index: number): boolean {
  return offsets[index] !== 0 && lengths[index] !== 0
}

/** Compressions that need tags. */
const JPEG = 7
const LERC = 34887

const UNCOMPRESSED = COMPRESSIONS.get(NOT_COMPRESSED) as Compression

const LOWEST_FIRST = 2

/** PhotometricInterpretation: luminance and two colour differences. */
const YCBCR = 6

/** One of the tags that geotiff names; it reads others too. */
type KnownTag = Parameters<GeoTIFFImage['fileDirectory']['getValue']>[0]

function readStoredLayout(image: GeoTIFFImage, type: SampleType, path: string) {
  const tag = (name: string): unknown => image.fileDirectory.getValue(name as KnownTag)
  const compression = Number(tag('Compression') ?? NOT_COMPRESSED)
  const planes = image.planarConfiguration === 2 ? image.getSamplesPerPixel() : 1
  const stride = planes === 1 ? image.getSamplesPerPixel() : 1
  const block = { width: image.getTileWidth(), height: image.getTileHeight() }
  const method = chooseCompression(image, type, compression, { ...block, depth: stride })
  if (!method) {
    const name = OTHER_COMPRESSIONS[compression] ?? `method ${compression}`
    const loss = LOSSY_COMPRESSIONS.has(compression) ? ', and may have changed its values' : ''
    throw new OperatorError(
      `${path} is compressed with ${name}, which is not read here${loss}: ${conversion(path)} makes a file that is.`,
    )
  }
  if (tag('FillOrder') === LOWEST_FIRST) {
    throw new OperatorError(
      `${path} has the lowest bit of each byte first (FillOrder 2), which is not read here: ${conversion(path)} makes a file that is.`,
    )
  }
  const predictor = Number(tag('Predictor') ?? PREDICTORS.none)
  const isOurs = Object.values<number>(PREDICTORS).includes(predictor)
  if (!isOurs || (predictor === PREDICTORS.floatingPoint && !type.float)) {
    throw new OperatorError(`${path} is compressed with predictor ${predictor}, which is not possible.`)
  }
  const numbers = (name: string) => Array.from((tag(name) ?? []) as ArrayLike<number | bigint>, Number)
  return {
    image: { width: image.getWidth(), height: image.getHeight() },
    tiled: image.isTiled,
    block,
    /** Bands in blocks of their own, or 1. */
    planes,
    /** Interleaved samples of a pixel in a block. */
    stride,
    offsets: numbers(image.isTiled ? 'TileOffsets' : 'StripOffsets'),
    lengths: numbers(image.isTiled ? 'TileByteCounts' : 'StripByteCounts'),
    // Others ignore the Predictor tag.
    samples: {
      ...type,
      littleEndian: image.littleEndian,
      predictor: [NOT_COMPRESSED, JPEG, LERC].includes(compression) ? PREDICTORS.none : predictor,
    },
    compression: method,
    /** The compression usually changes pixels. */
    lossy: LOSSY_COMPRESSIONS.has(compression),
    /** The pixel of unwritten blocks. */
    fill: nearestPixel(type.pixelType, readNodata(image) ?? 0),
  }
}

function chooseCompression(
  image: GeoTIFFImage,
  { pixelType, packed }: SampleType,
  compression: number,
  room: { width: number; height: number; depth: number },
): Compression | undefined {
  const tag = (name: string): unknown => image.fileDirectory.getValue(name as KnownTag)
  if (compression === LERC && image.littleEndian) {
    return createLerc(pixelType, room, tag('LercParameters') as ArrayLike<number> | undefined)
  }
  const isLuminance = tag('PhotometricInterpretation') === YCBCR
  const depths = isLuminance ? [3] : [1, 3]
  if (compression === JPEG && pixelType === '8BUI' && !packed && depths.includes(room.depth)) {
    const tables = readSharedTables(Uint8Array.from((tag('JPEGTables') ?? []) as ArrayLike<number>))
    return {
      undo: (bytes) => decodeJpeg(bytes, tables, { ...room, isLuminance }),
      pixelBytes: DECODED_PIXEL_BYTES,
    }
  }
  return COMPRESSIONS.get(compression)
}

/** Before any pixel is loaded. */
function refuseTruncated(layout: BlockLayout, file: FileBytes, path: string): void {
  const { image, block, planes, offsets, lengths } = layout
  const count = Math.ceil(image.width / block.width) * Math.ceil(image.height / block.height) * planes
  const missing = offsets.some((offset, index) => offset + (lengths[index] ?? Number.NaN) > file.fileSize)
  // Several empty blocks are unwritten ones; GDAL would read a single strip to the end of the file.
  const isUnmeasured = !layout.tiled && offsets.length === 1 && offsets[0] !== 0 && lengths[0] === 0
  // Blocks without a size give Infinity or NaN.
  if (missing || isUnmeasured || !(count > 0) || offsets.length < count || lengths.length < count) {
    throw new OperatorError(
      `${path} is cut off or damaged: not all of its ${layout.tiled ? 'tiles' : 'strips'} are there.`,
      { code: 'CUT_OFF' },
    )
  }
}

/** Decompressed at a time. Blocks of GDAL have some kilobytes; a few writers make one strip. */
const MAX_BLOCK_BYTES = 64 * 2 ** 20

/** Half-precision floats grow in memory. */
function blockBytes({ block, stride, samples, compression }: BlockLayout): number {
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

/** Offset 0 means an unwritten strip. */
const UNPACKED_OFFSET = 8

/**
 * Reads the rows of a single strip in pieces, to save memory.
 *
 * @returns unpacks: {@link unpack} makes the file of the offsets
 */
function chopped(layout: BlockLayout): { layout: BlockLayout; unpacks: boolean } {
  const { image, block, tiled, compression, lengths, samples, stride } = layout
  const rowBytes = bytesOfRow(samples, image.width * stride)
  const size = rowBytes * image.height
  const unpacks = compression !== UNCOMPRESSED
  const staysWhole = unpacks
    ? !compression.stream || blockBytes(layout) <= STREAMED_BYTES
    : lengths.some((length) => length < size)
  if (tiled || block.height < image.height || staysWhole) return { layout, unpacks: false }
  const height = Math.max(1, Math.floor(CHOPPED_BYTES / rowBytes))
  const rows = Array.from({ length: Math.ceil(image.height / height) }, (_, index) => index * height)
  const written = lengths.map((_, plane) => isWritten(layout, plane))
  const countBefore = (plane: number) => written.slice(0, plane).filter(Boolean).length
  const unpacked = written.map((is, plane) => (is ? UNPACKED_OFFSET + countBefore(plane) * size : 0))
  const offsets = unpacks ? unpacked : layout.offsets
  const inPieces = {
    ...layout,
    block: { width: block.width, height },
    compression: UNCOMPRESSED,
    offsets: offsets.flatMap((offset) => rows.map((row) => offset && offset + row * rowBytes)),
    lengths: offsets.flatMap(() => rows.map((row) => Math.min(height, image.height - row) * rowBytes)),
  }
  return { layout: inPieces, unpacks }
}

/** The written single strips, one a plane. */
async function* unpack(layout: BlockLayout, file: FileBytes): AsyncGenerator<Uint8Array> {
  const { image, block, stride, samples, compression, offsets, lengths } = layout
  const size = bytesOfRow(samples, block.width * stride) * image.height
  yield Buffer.alloc(UNPACKED_OFFSET)
  for (const [plane, offset] of offsets.entries()) {
    if (!isWritten(layout, plane)) continue
    let left = size
    const packed = readInPieces(file, { offset, length: lengths[plane] as number })
    for await (const piece of (compression.stream as DecompressStream)(packed)) {
      left -= piece.length
      if (left < 0) {
        throw new Error(`the block at byte ${offset} holds more than the ${size} bytes of its pixels`)
      }
      yield piece
    }
    if (left > 0) throw new Error(`the block at byte ${offset} is damaged: it is too short`)
  }
}

const READ_BYTES = 256 * 1024

async function* readInPieces(file: FileBytes, { offset, length }: Slice) {
  for (let at = 0; at < length; at += READ_BYTES) {
    yield await file.read({ offset: offset + at, length: Math.min(READ_BYTES, length - at) })
  }
}

export type Blocks = ReturnType<typeof openBlocks>

/** Overhead of a block: small ones are not all read at once. */
const IN_FLIGHT_BYTES = 65_536

export function openBlocks(image: GeoTIFFImage, type: SampleType, file: FileBytes, path: string) {
  const stored = readStoredLayout(image, type, path)
  refuseTruncated(stored, file, path)
  const { layout, unpacks } = chopped(stored)
  refuseLargeBlocks(layout, path)
  let unpacked: Promise<FileBytes> | undefined
  const { block, planes, stride } = layout
  const across = Math.ceil(layout.image.width / block.width)
  const down = Math.ceil(layout.image.height / block.height)

  const first = (band: number) => (planes === 1 ? 0 : (band - 1) * across * down)

  function findBytes(): FileBytes | Promise<FileBytes> {
    if (unpacks) unpacked ??= FileBytes.createTemporary(unpack(stored, file))
    return unpacked ?? file
  }

  async function readBlock(column: number, row: number, bands: number[], into: Pixels[], window: Window) {
    const corner = { column: column * block.width, row: row * block.height }
    const index = row * across + column
    const bytes = await findBytes()
    const samples = (at: number) => samplesAt(layout, bytes, at, row)
    const together = planes === 1 ? await samples(index) : undefined
    for (const [at, band] of bands.entries()) {
      const ofBand = together ?? (await samples(first(band) + index))
      copy(ofBand, planes === 1 ? band - 1 : 0, stride, { ...corner, ...block }, into[at] as Pixels, window)
    }
  }

  return {
    ...block,
    fill: layout.fill,
    lossy: layout.lossy,
    /** @param band from 1 */
    isWritten(window: Window, band: number) {
      for (const { column, row } of blocksIn(window, block)) {
        if (isWritten(layout, first(band) + row * across + column)) return true
      }
      return false
    },
    /** The share of written blocks. */
    writtenPart() {
      const count = across * down * planes
      let written = 0
      for (let index = 0; index < count; index++) if (isWritten(layout, index)) written++
      return written / count
    },
    /** Row by row, one array a band (from 1). */
    async read(window: Window, bands: number[]) {
      const result = bands.map(() => createPixels(type.pixelType, window.width * window.height))
      const together = Math.max(1, Math.floor(MAX_BLOCK_BYTES / (blockBytes(layout) + IN_FLIGHT_BYTES)))
      let reads: Promise<void>[] = []
      for (const { column, row } of blocksIn(window, block)) {
        reads.push(readBlock(column, row, bands, result, window))
        if (reads.length < together) continue
        await Promise.all(reads)
        reads = []
      }
      await Promise.all(reads)
      return result
    },
    async close() {
      const temporary = await unpacked?.catch(() => undefined)
      await temporary?.close()
    },
  }
}

/** A compressed block of few samples may be larger. */
const SPARE_BYTES = 1024

async function samplesAt(layout: BlockLayout, file: FileBytes, index: number, row: number): Promise<Pixels> {
  const { image, block, stride, samples, fill } = layout
  // The last strip ends with the image; tiles are whole.
  const height = layout.tiled ? block.height : Math.min(block.height, image.height - row * block.height)
  const rowLength = block.width * stride
  const [offset, length] = [layout.offsets[index] as number, layout.lengths[index] as number]
  if (!isWritten(layout, index)) return createPixels(samples.pixelType, rowLength * height).fill(fill)

  const rowBytes = bytesOfRow(samples, rowLength)
  const size = rowBytes * height
  // No compression doubles its samples: later bytes are none.
  const slice = { offset, length: Math.min(length, 2 * size + SPARE_BYTES) }
  const compressed = await file.read(slice)
  const bytes = await layout.compression.undo(compressed, size, rowBytes * block.height)
  if (bytes.length < size) throw new Error(`the block at byte ${offset} is damaged: it is too short`)
  const exact = bytes.subarray(0, size)
  // Typed arrays need an aligned start.
  const aligned = exact.byteOffset % 8 === 0 ? exact : Uint8Array.from(exact)
  return decodeSamples(aligned, samples, rowLength, stride)
}

function* blocksIn(window: Window, block: Pick<Window, 'width' | 'height'>) {
  const lastRow = Math.ceil((window.row + window.height) / block.height)
  const lastColumn = Math.ceil((window.column + window.width) / block.width)
  for (let row = Math.floor(window.row / block.height); row < lastRow; row++) {
    for (let column = Math.floor(window.column / block.width); column < lastColumn; column++)
      yield { column, row }
  }
}

function copy(from: Pixels, sample: number, stride: number, block: Window, to: Pixels, window: Window): void {
  const firstRow = Math.max(block.row, window.row)
  const lastRow = Math.min(block.row + block.height, window.row + window.height)
  const firstColumn = Math.max(block.column, window.column)
  const count = Math.min(block.column + block.width, window.column + window.width) - firstColumn
  for (let row = firstRow; row < lastRow; row++) {
    const source = ((row - block.row) * block.width + firstColumn - block.column) * stride + sample
    const target = (row - window.row) * window.width + firstColumn - window.column
    if (stride === 1) {
      to.set(from.subarray(source, source + count), target)
    } else {
      for (let at = 0; at < count; at++) to[target + at] = from[source + at * stride] as number
    }
  }
}
