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
import type { FileBytes } from './directories.ts'
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
type BlockLayout = ReturnType<typeof readStoredLayout> & {
  /** Pieces of a strip that decompresses only from its beginning. */
  piecesPerStrip?: number
}

/** Refuses truncated files. */
function readBlockLayout(image: GeoTIFFImage, type: SampleType, file: FileBytes, path: string): BlockLayout {
  const stored = measured(readStoredLayout(image, type, path), file)
  refuseTruncated(stored, file, path)
  const layout = chopped(stored)
  refuseLargeBlocks(layout, path)
  return layout
}

function isWritten({ offsets, lengths }: BlockLayout, index: number): boolean {
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
    /** Bands in blocks of their own, or 1. */
    planes,
    /** Interleaved samples of a pixel in a block. */
    stride,
    offsets: numbers(image.isTiled ? 'TileOffsets' : 'StripOffsets'),
    lengths: numbers(image.isTiled ? 'TileByteCounts' : 'StripByteCounts'),
    /** Reversed bits in each byte; JPEG fixes its bit order. */
    turned: tag('FillOrder') === LOWEST_FIRST && compression !== JPEG,
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

export type Blocks = ReturnType<typeof openBlocks>

/** Overhead of a block: small ones are not all read at once. */
const IN_FLIGHT_BYTES = 65_536

/** @throws {OperatorError} for a truncated file, or an unsupported storage */
export function openBlocks(image: GeoTIFFImage, type: SampleType, file: FileBytes, path: string) {
  const layout = readBlockLayout(image, type, file, path)
  const strips = openStrips(layout, file)
  const { block, planes, stride } = layout
  const across = Math.ceil(layout.image.width / block.width)
  const down = Math.ceil(layout.image.height / block.height)

  const first = (band: number) => (planes === 1 ? 0 : (band - 1) * across * down)

  async function readBlock(column: number, row: number, bands: number[], into: Pixels[], window: Window) {
    const place = { column: column * block.width, row: row * block.height }
    const index = row * across + column
    const samples = (at: number) =>
      strips[0] && isWritten(layout, at)
        ? (strips[Math.floor(at / down)] as StreamedStrip).samples(row)
        : samplesAt(layout, file, at, row)
    const together = planes === 1 ? await samples(index) : undefined
    for (const [at, band] of bands.entries()) {
      const ofBand = together ?? (await samples(first(band) + index))
      copy(ofBand, planes === 1 ? band - 1 : 0, stride, { ...place, ...block }, into[at] as Pixels, window)
    }
  }

  return {
    ...block,
    fill: layout.fill,
    lossy: layout.lossy,
    /** For each pixel between windows. */
    heldBytes: strips.length === 0 ? 0 : stride * bytesOf(type.pixelType),
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
      for (const strip of strips) strip.needOnlyFrom(Math.floor(window.row / block.height))
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
  }
}

/** Strips that decompress only from their beginning, one a plane. */
function openStrips(layout: BlockLayout, file: FileBytes): StreamedStrip[] {
  const { image, block, planes, stride, samples, compression, piecesPerStrip } = layout
  const { stream } = compression
  if (piecesPerStrip === undefined || !stream) return []
  const rowLength = block.width * stride
  const rowBytes = bytesOfRow(samples, rowLength)
  return Array.from({ length: planes }, (_, plane) => {
    const index = plane * piecesPerStrip
    const [offset, length] = [layout.offsets[index] as number, layout.lengths[index] as number]
    const [size, pieceBytes] = [rowBytes * image.height, rowBytes * block.height]
    const place = { offset, length, turned: layout.turned, size, pieceBytes }
    return new StreamedStrip(file, place, stream, (bytes) => decodeSamples(bytes, samples, rowLength, stride))
  })
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
  const compressed = await file.read(slice, layout.turned)
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

const READ_BYTES = 256 * 1024

interface StripPlace {
  offset: number
  length: number
  /** Reversed bits in each byte. */
  turned: boolean
  /** Decompressed. */
  size: number
  /** The last piece may be shorter. */
  pieceBytes: number
}

/** Decompresses a strip once while windows move down; moving up beyond the held pieces restarts it. */
export class StreamedStrip {
  readonly #file: FileBytes
  readonly #place: StripPlace
  readonly #stream: DecompressStream
  readonly #samplesOf: (bytes: Uint8Array) => Pixels
  #decompressed: AsyncIterator<Uint8Array> | undefined
  /** Decompressed beyond the last piece. */
  #rest = new Uint8Array(0)
  #next = 0
  #needed = 0
  readonly #held = new Map<number, Pixels>()
  #queue: Promise<unknown> = Promise.resolve()

  /** @param samplesOf may change its bytes */
  constructor(
    file: FileBytes,
    place: StripPlace,
    stream: DecompressStream,
    samplesOf: (bytes: Uint8Array) => Pixels,
  ) {
    this.#file = file
    this.#place = place
    this.#stream = stream
    this.#samplesOf = samplesOf
  }

  /** Earlier pieces are released. */
  needOnlyFrom(piece: number): void {
    this.#needed = piece
    for (const held of this.#held.keys()) if (held < piece) this.#held.delete(held)
  }

  /** @throws for a strip that is damaged, or longer than its pixels */
  samples(piece: number): Promise<Pixels> {
    const found = this.#queue.then(() => this.#reach(piece))
    this.#queue = found.catch(() => {})
    return found
  }

  async #reach(piece: number): Promise<Pixels> {
    const held = this.#held.get(piece)
    if (held) return held
    if (piece < this.#next || !this.#decompressed) await this.#begin()
    for (;;) {
      const bytes = await this.#take(this.#bytesOf(this.#next))
      const reached = this.#next++
      if (this.#bytesOf(this.#next) === 0) await this.#refuseMore()
      if (reached < this.#needed && reached !== piece) continue
      const samples = this.#samplesOf(bytes)
      this.#held.set(reached, samples)
      if (reached === piece) return samples
    }
  }

  /** Releases the memory of the previous decompressor. */
  async #begin(): Promise<void> {
    await this.#decompressed?.return?.()
    this.#decompressed = this.#stream(this.#compressed())[Symbol.asyncIterator]()
    this.#rest = new Uint8Array(0)
    this.#next = 0
  }

  async *#compressed(): AsyncGenerator<Uint8Array> {
    const { offset, length, turned } = this.#place
    for (let at = 0; at < length; at += READ_BYTES) {
      const slice = { offset: offset + at, length: Math.min(READ_BYTES, length - at) }
      yield await this.#file.read(slice, turned)
    }
  }

  #bytesOf(piece: number): number {
    const { size, pieceBytes } = this.#place
    return Math.max(0, Math.min(pieceBytes, size - piece * pieceBytes))
  }

  async #take(size: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(size)
    for (let at = 0; at < size; ) {
      if (this.#rest.length === 0) this.#rest = await this.#decompress()
      if (this.#rest.length === 0) {
        throw new Error(`the block at byte ${this.#place.offset} is damaged: it is too short`)
      }
      const part = this.#rest.subarray(0, size - at)
      bytes.set(part, at)
      at += part.length
      this.#rest = this.#rest.subarray(part.length)
    }
    return bytes
  }

  /** Reads to the end: DEFLATE has its checksum there. */
  async #refuseMore(): Promise<void> {
    const more = this.#rest.length > 0 ? this.#rest : await this.#decompress()
    if (more.length === 0) return
    await this.#decompressed?.return?.()
    throw new Error(
      `the block at byte ${this.#place.offset} holds more than the ${this.#place.size} bytes of its pixels`,
    )
  }

  /** Empty at the end. */
  async #decompress(): Promise<Uint8Array<ArrayBuffer>> {
    for (;;) {
      const next = await this.#decompressed?.next()
      if (!next || next.done) return new Uint8Array(0)
      if (next.value.length > 0) return next.value as Uint8Array<ArrayBuffer>
    }
  }
}
