import { promisify } from 'node:util'
import { type InputType, inflate, type ZlibOptions } from 'node:zlib'
import { ZSTDDecoder } from 'zstddec'
import { codeOf } from '#src/lib/caught.ts'

/**
 * Turns the bytes of a block into at least `size` bytes of samples, or fewer if there are no more. Never takes
 * memory for more than `most`: the last strip of an image may be filled up to the height of the others.
 */
export type Decompress = (bytes: Uint8Array, size: number, most: number) => Uint8Array | Promise<Uint8Array>

export const NOT_COMPRESSED = 1

/**
 * The lossless compressions of TIFF that carry numbers, by the values of its Compression tag. They are
 * undone here rather than by geotiff, whose LZW and ZSTD never end on some damaged blocks until memory
 * does; and zlib inflates on other threads.
 */
export const COMPRESSIONS: ReadonlyMap<number, Decompress> = new Map<number, Decompress>([
  [NOT_COMPRESSED, (bytes) => bytes],
  [5, decompressLzw],
  [8, decompressDeflate],
  [32946, decompressDeflate],
  [32773, unpackBits],
  [50000, decompressZstd],
])

/** Names for what cannot be read, so that the operator knows what to look for. */
export const OTHER_COMPRESSIONS: Record<number, string> = {
  2: 'CCITT',
  3: 'CCITT',
  4: 'CCITT',
  6: 'JPEG',
  7: 'JPEG',
  34712: 'JPEG 2000',
  34887: 'LERC, big-endian or in an unknown compression',
  34925: 'LZMA',
  50001: 'WebP',
  50002: 'JPEG XL',
}

/** Those of them that pictures are compressed with, mostly so that something of them is lost. */
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

const LZW_CLEAR = 256
const LZW_END = 257
const LZW_FIRST = 258
const LZW_NARROWEST = 9
const LZW_WIDEST = 12

/**
 * LZW as TIFF has it: codes with the high bit first, which grow wider one code early (TIFF 6.0,
 * section 13). A string of the table is the one before it and one more byte, and was written to the
 * output right there: it is kept as a place in the output and a length.
 */
export function decompressLzw(bytes: Uint8Array, size: number): Uint8Array {
  const output = new Uint8Array(size)
  const starts = new Uint32Array(1 << LZW_WIDEST)
  const lengths = new Uint32Array(1 << LZW_WIDEST)
  let written = 0
  let next = LZW_FIRST
  let width = LZW_NARROWEST
  let previousLength = 0
  let bits = 0
  let bitCount = 0
  let position = 0
  while (written < size) {
    while (bitCount < width && position < bytes.length) {
      bits = ((bits << 8) | (bytes[position++] as number)) & 0xffffff
      bitCount += 8
    }
    if (bitCount < width) break
    bitCount -= width
    const code = (bits >>> bitCount) & ((1 << width) - 1)
    if (code === LZW_END) break
    if (code === LZW_CLEAR) {
      next = LZW_FIRST
      width = LZW_NARROWEST
      previousLength = 0
      continue
    }
    if (previousLength > 0 && next < starts.length) {
      starts[next] = written - previousLength
      lengths[next] = previousLength + 1
      next++
    }
    if (code < LZW_CLEAR) {
      output[written++] = code
      previousLength = 1
    } else {
      if (code >= next) throw new Error('its LZW data are damaged')
      const length = lengths[code] as number
      // Byte by byte: the string may end in its own first byte. Past the end, bytes are dropped.
      for (let from = starts[code] as number, end = from + length; from < end; from++) {
        output[written++] = output[from] as number
      }
      previousLength = length
    }
    if (next >= (1 << width) - 1 && width < LZW_WIDEST) width++
  }
  return output.subarray(0, Math.min(written, size))
}

/** PackBits (TIFF 6.0, section 9): runs of one byte, and stretches of bytes as they are. */
export function unpackBits(bytes: Uint8Array, size: number): Uint8Array {
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

/** The size is given, so that a damaged block comes out short: to find it out can take for ever. */
async function decompressZstd(bytes: Uint8Array, size: number): Promise<Uint8Array> {
  const zstd = new ZSTDDecoder()
  await zstd.init()
  return zstd.decode(bytes, size)
}
