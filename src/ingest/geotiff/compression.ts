import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createInflate, type InputType, inflate, type ZlibOptions } from 'node:zlib'
import { decode, type LercData, load } from 'lerc'
import { ZSTDDecoder } from 'zstddec'
import { readErrorCode } from '#src/lib/promises.ts'
import type { PixelType } from '#src/raster/pixels.ts'

/**
 * Returns `size` bytes of samples, or fewer at the end. Never takes more memory than `most`: the last strip may be
 * padded to the height of the others.
 */
type Decompress = (bytes: Uint8Array, size: number, most: number) => Uint8Array | Promise<Uint8Array>

/** @param atLeast bytes of an output piece, except of the last; zlib has its own size */
export type DecompressStream = (
  pieces: AsyncIterable<Uint8Array>,
  atLeast?: number,
) => AsyncIterable<Uint8Array>

export interface Compression {
  undo: Decompress
  /** Saves the memory of a whole block. */
  stream?: DecompressStream
  /** If a pixel takes more than its samples. */
  pixelBytes?: number
}

export const NOT_COMPRESSED = 1

/**
 * Lossless compressions of numbers, by the Compression tag. geotiff's LZW and ZSTD never end on some damaged blocks;
 * zlib inflates on other threads.
 */
export const COMPRESSIONS: ReadonlyMap<number, Compression> = new Map<number, Compression>([
  [NOT_COMPRESSED, { undo: (bytes) => bytes.slice() }],
  [5, { undo: undoing((pieces, atLeast) => streamLzw(pieces, atLeast, OF_BLOCKS)), stream: streamLzw }],
  [8, { undo: decompressDeflate, stream: streamDeflate }],
  [32946, { undo: decompressDeflate, stream: streamDeflate }],
  [32773, { undo: undoing(streamPackBits), stream: streamPackBits }],
  [50000, { undo: decompressZstd }],
])

export const OTHER_COMPRESSIONS: Record<number, string> = {
  2: 'CCITT',
  3: 'CCITT',
  4: 'CCITT',
  6: 'JPEG of an older form',
  7: 'JPEG of pixels other than one or three bytes',
  34712: 'JPEG 2000',
  34887: 'LERC, big-endian or in an unknown compression',
  34925: 'LZMA',
  50001: 'WebP',
  50002: 'JPEG XL',
}

/** For pictures, mostly lossy. */
export const LOSSY_COMPRESSIONS: ReadonlySet<number> = new Set([6, 7, 34712, 50001, 50002])

const inflateBuffer = promisify<InputType, ZlibOptions, Buffer>(inflate)

async function decompressDeflate(bytes: Uint8Array, size: number, most: number): Promise<Uint8Array> {
  // zlib would gather several pieces and double the memory. The spare bytes let it see the end.
  const options = { chunkSize: size + SMALLEST_CHUNK, maxOutputLength: most }
  return inflateBuffer(bytes, options).catch((error) => {
    if (readErrorCode(error) !== 'ERR_BUFFER_TOO_LARGE') throw error
    throw new Error(`its DEFLATE data hold more than the ${most} bytes of its pixels`)
  })
}

/** zlib's minimum. */
const SMALLEST_CHUNK = 64

const PIECE_BYTES = 65_536

function streamDeflate(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const inflated = createInflate({ chunkSize: PIECE_BYTES })
  // The reader of the inflated stream gets the errors.
  pipeline(Readable.from(pieces, { highWaterMark: 1 }), inflated, () => {})
  return inflated
}

/** Reads no byte behind the last one of `size`: writers may leave out the end, and fill up the block. */
function undoing(stream: DecompressStream): Decompress {
  return async (bytes, size) => {
    for await (const piece of stream(onePiece(bytes), size)) return piece.subarray(0, size)
    return new Uint8Array(0)
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

const LONGEST_RUN = 128

/** TIFF 6.0, section 9: runs of a byte, and literal stretches. */
async function* streamPackBits(
  pieces: AsyncIterable<Uint8Array>,
  atLeast = PIECE_BYTES,
): AsyncGenerator<Uint8Array> {
  let [literals, repeats] = [0, 0]
  for await (const bytes of pieces) {
    let output = new Uint8Array(atLeast + LONGEST_RUN)
    let written = 0
    for (const byte of bytes) {
      if (literals > 0) {
        output[written++] = byte
        literals--
      } else if (repeats > 0) {
        output.fill(byte, written, written + repeats)
        written += repeats
        repeats = 0
      } else if (byte < 128) literals = byte + 1
      else if (byte > 128) repeats = 257 - byte
      if (written < atLeast) continue
      yield output.subarray(0, written)
      output = new Uint8Array(atLeast + LONGEST_RUN)
      written = 0
    }
    yield output.subarray(0, written)
  }
}

/** The given size makes damaged blocks short; finding it may never end. */
async function decompressZstd(bytes: Uint8Array, size: number): Promise<Uint8Array> {
  const zstd = new ZSTDDecoder()
  await zstd.init()
  return zstd.decode(bytes, size)
}

const CLEAR = 256
const END = 257
const FIRST = 258
const NARROWEST = 9
const WIDEST = 12
const CODES = 1 << WIDEST

/** Room that a string may need: each is a byte longer than an earlier one. */
const LONGEST = CODES

/** By code: where a string of the table is in the output. */
function createStringTable() {
  return { starts: new Int32Array(CODES), lengths: new Uint16Array(CODES) }
}

/** A block is one piece, which is decoded at one go: all blocks share a table. */
const OF_BLOCKS = createStringTable()

/**
 * TIFF's LZW: high bit first, codes widen one code early (TIFF 6.0, section 13). A new string is the one before it and
 * the next byte, so it stands in the output already: the table has its place there.
 */
async function* streamLzw(
  pieces: AsyncIterable<Uint8Array>,
  atLeast = PIECE_BYTES,
  { starts, lengths } = createStringTable(),
): AsyncGenerator<Uint8Array> {
  let [next, width] = [FIRST, NARROWEST]
  let [bits, bitCount] = [0, 0]
  let output = new Uint8Array(atLeast + LONGEST)
  /** Of the last code; no length before the first one of a table. */
  let [start, length] = [0, 0]
  /** The begin of the table's strings, and of new bytes. */
  let [tableStart, newStart, written] = [0, 0, 0]
  for await (const bytes of pieces) {
    for (let at = 0; at < bytes.length; at++) {
      // Codes are wider than a byte, so each byte ends one at most.
      bits = ((bits << 8) | (bytes[at] as number)) & 0xffffff
      bitCount += 8
      if (bitCount < width) continue
      bitCount -= width
      const code = (bits >>> bitCount) & ((1 << width) - 1)
      if (code === END) {
        yield output.subarray(newStart, written)
        return
      }
      if (code === CLEAR) {
        next = FIRST
        width = NARROWEST
        length = 0
        tableStart = written
        continue
      }
      const grows = length > 0 && next < CODES
      if (code >= next + (grows ? 1 : 0)) throw new Error('its LZW data are damaged')
      if (grows) {
        starts[next] = start
        lengths[next++] = length + 1
      }
      start = written
      if (code < CLEAR) {
        output[written++] = code
        length = 1
      } else {
        length = lengths[code] as number
        // Forwards: the code may be the new string, which ends with its own first byte.
        for (let from = starts[code] as number, end = from + length; from < end; from++) {
          output[written++] = output[from] as number
        }
      }
      if (next >= (1 << width) - 1 && width < WIDEST) width++
      if (written - newStart < atLeast) continue
      yield output.subarray(newStart, written)
      newStart = written
      if (written + atLeast + LONGEST <= output.length) continue
      const tableEnd = next < CODES ? written : (starts[CODES - 1] as number) + (lengths[CODES - 1] as number)
      const strings = output.subarray(tableStart, tableEnd)
      // As much again: strings of one value take seven megabytes, which are not to be copied for each piece.
      output = new Uint8Array(2 * strings.length + atLeast + LONGEST)
      output.set(strings)
      for (let string = FIRST; string < next; string++)
        starts[string] = (starts[string] as number) - tableStart
      start -= tableStart
      tableStart = 0
      newStart = written = strings.length
    }
  }
  yield output.subarray(newStart, written)
}

/** Compression of the blobs, by the second number of LercParameters. */
const AROUND: Record<number, number> = { 0: NOT_COMPRESSED, 1: 8, 2: 50000 }

/** By LERC's numbers. */
const TYPES: PixelType[] = ['8BSI', '8BUI', '16BSI', '16BUI', '32BSI', '32BUI', '32BF', '64BF']

/** A blob adds a head and a mask, and is hardly ever larger than its pixels. */
const SPARE_BYTES = 1024

interface BlockSize {
  width: number
  height: number
  depth: number
}

/**
 * A blob a block, possibly compressed. Missing pixels become NaN.
 *
 * @returns undefined for an unknown compression
 */
export function createLerc(
  pixelType: PixelType,
  block: BlockSize,
  parameters: ArrayLike<number> | undefined,
): Compression | undefined {
  const around = COMPRESSIONS.get(AROUND[parameters?.[1] ?? 0] as number)
  if (!around) return undefined
  const undo: Compression['undo'] = async (bytes, size, most) => {
    const room = Math.ceil(1.25 * most) + SPARE_BYTES
    const blob = await around.undo(bytes, room, room)
    const { rows, columns, depth, blobBytes, type } = readHead(blob)
    // The decoder allocates by the head. The last strip may be as high as the others, or lower.
    if (type !== pixelType || columns !== block.width || rows > block.height || depth !== block.depth) {
      throw new Error(
        `its LERC data say that they are ${columns} x ${rows} pixels of ${depth} x ${type}, and the block has ${block.width} x ${block.height} of ${block.depth} x ${pixelType}`,
      )
    }
    await load()
    const { pixels, mask } = decoded(blob.slice(0, blobBytes))
    const samples = pixels[0]
    if (!samples || samples.byteLength < size) throw new Error('its LERC data are damaged')
    if (mask && (samples instanceof Float32Array || samples instanceof Float64Array)) {
      for (let at = 0; at < samples.length; at++) {
        if (mask[Math.floor(at / depth)] === 0) samples[at] = Number.NaN
      }
    }
    return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
  }
  return { undo }
}

/** The decoder checks a checksum, and reports only a number. */
function decoded(blob: Uint8Array): LercData {
  try {
    return decode(blob, { returnInterleaved: true })
  } catch {
    throw new Error('its LERC data are damaged')
  }
}

/** Lerc2 has a checksum from version 3, and several samples a pixel from 4. */
function readHead(blob: Uint8Array) {
  const view = new DataView(blob.buffer, blob.byteOffset, blob.byteLength)
  const damaged = () => new Error('its LERC data are damaged, or of another version')
  if (blob.length < 50 || Buffer.from(blob.subarray(0, 6)).toString('latin1') !== 'Lerc2 ') throw damaged()
  const version = view.getInt32(6, true)
  if (version < 2 || version > 6) throw damaged()
  let at = version >= 3 ? 14 : 10
  const next = () => {
    at += 4
    return view.getInt32(at - 4, true)
  }
  const [rows, columns, depth] = [next(), next(), version >= 4 ? next() : 1]
  at += 8 // How many pixels are valid, and the size of its own blocks.
  const [blobBytes, type] = [next(), TYPES[next()]]
  if (rows < 1 || columns < 1 || depth < 1 || blobBytes < 50) throw damaged()
  return { rows, columns, depth, blobBytes, type }
}
