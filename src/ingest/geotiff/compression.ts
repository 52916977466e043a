import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createInflate, type InputType, inflate, type ZlibOptions } from 'node:zlib'
import { ZSTDDecoder } from 'zstddec'
import { codeOf } from '#src/lib/caught.ts'
import { decompressLzw, streamLzw } from './lzw.ts'

/**
 * Turns the bytes of a block into at least `size` bytes of samples, or fewer if there are no more. Never takes
 * memory for more than `most`: the last strip of an image may be filled up to the height of the others.
 */
export type Decompress = (bytes: Uint8Array, size: number, most: number) => Uint8Array | Promise<Uint8Array>

/** Turns the bytes of a block, which come in pieces, into its samples, in pieces of any size. */
export type DecompressStream = (pieces: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>

export interface Compression {
  undo: Decompress
  /** The same without the memory of a whole block, where that can be. */
  stream?: DecompressStream
  /** What a pixel takes while it is decompressed, where that may be more than its samples. */
  pixelBytes?: number
}

export const NOT_COMPRESSED = 1

/**
 * The lossless compressions of TIFF that carry numbers, by the values of its Compression tag. They are
 * undone here rather than by geotiff, whose LZW and ZSTD never end on some damaged blocks until memory
 * does; and zlib inflates on other threads.
 */
export const COMPRESSIONS: ReadonlyMap<number, Compression> = new Map<number, Compression>([
  [NOT_COMPRESSED, { undo: (bytes) => bytes }],
  [5, { undo: decompressLzw, stream: streamLzw }],
  [8, { undo: decompressDeflate, stream: streamDeflate }],
  [32946, { undo: decompressDeflate, stream: streamDeflate }],
  [32773, { undo: unpackBits, stream: streamPackBits }],
  [50000, { undo: decompressZstd }],
])

/** Names for what cannot be read, so that the operator knows what to look for. */
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

/** Those that pictures are compressed with, mostly so that something of them is lost. */
export const LOSSY: ReadonlySet<number> = new Set([6, 7, 34712, 50001, 50002])

const inflateBuffer = promisify<InputType, ZlibOptions, Buffer>(inflate)

async function decompressDeflate(bytes: Uint8Array, size: number, most: number): Promise<Uint8Array> {
  // In one piece: zlib gathers pieces, and then has all of it twice. The bytes more are for it to see the end.
  const options = { chunkSize: size + SMALLEST_CHUNK, maxOutputLength: most }
  return inflateBuffer(bytes, options).catch((error) => {
    if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') throw error
    throw new Error(`its DEFLATE data hold more than the ${most} bytes of its pixels`)
  })
}

/** zlib's own limit. */
const SMALLEST_CHUNK = 64

const PIECE_BYTES = 65_536

function streamDeflate(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const inflated = createInflate({ chunkSize: PIECE_BYTES })
  // Whoever reads what is inflated is told of an error, wherever it comes from.
  pipeline(Readable.from(pieces, { highWaterMark: 1 }), inflated, () => {})
  return inflated
}

/** PackBits (TIFF 6.0, section 9): runs of one byte, and stretches of bytes as they are. */
function unpackBits(bytes: Uint8Array, size: number): Uint8Array {
  const output = new Uint8Array(size)
  let written = 0
  for (let position = 0; position < bytes.length && written < size; ) {
    const header = ((bytes[position++] as number) << 24) >> 24
    if (header === -128) continue
    if (header < 0) {
      const end = Math.min(size, written + 1 - header)
      output.fill(bytes[position++] ?? 0, written, end)
      written = end
    } else {
      const stretch = bytes.subarray(position, Math.min(position + header + 1, position + size - written))
      output.set(stretch, written)
      written += stretch.length
      position += header + 1
    }
  }
  return output.subarray(0, written)
}

/** Decompresses all units that have come whole; the rest of a piece is held for the next one. */
async function* streamPackBits(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held = new Uint8Array(0)
  for await (const piece of pieces) {
    const bytes = Buffer.concat([held, piece])
    const { end, size } = wholeUnits(bytes)
    yield unpackBits(bytes.subarray(0, end), size)
    held = bytes.subarray(end)
  }
}

/** Where the last whole unit of PackBits ends, and what all of them come to. */
function wholeUnits(bytes: Uint8Array): { end: number; size: number } {
  let size = 0
  for (let at = 0; ; ) {
    const header = ((bytes[at] as number) << 24) >> 24
    const end = at + 1 + (header === -128 ? 0 : header < 0 ? 1 : header + 1)
    if (at >= bytes.length || end > bytes.length) return { end: at, size }
    if (header !== -128) size += Math.abs(header) + 1
    at = end
  }
}

/** The size is given, so that a damaged block comes out short: to find it out can take for ever. */
async function decompressZstd(bytes: Uint8Array, size: number): Promise<Uint8Array> {
  const zstd = new ZSTDDecoder()
  await zstd.init()
  return zstd.decode(bytes, size)
}
