import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import mozjpeg from '@jsquash/jpeg/codec/dec/mozjpeg_dec.js'

interface BlockSize {
  width: number
  height: number
  /** 1 or 3. */
  depth: number
  /** Luminance and two differences stand for red, green and blue. */
  isLuminance: boolean
}

/** Red, green, blue and opacity, for grey pixels too. */
export const DECODED_PIXEL_BYTES = 4

/** T.81, table B.1; each follows a byte of 0xFF. */
const BEGIN = 0xd8
const END = 0xd9
const SCAN = 0xda
const SEQUENTIAL_FRAMES = [0xc0, 0xc1]
/** Progressive, lossless, arithmetic. */
const OTHER_FRAMES = [0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]
/** Application segments; TIFF's tags replace their colour space. */
const isOfApplication = (marker: number) => marker >= 0xe0 && marker <= 0xef

/** Adobe's segment: its last byte sets the decoder's colour transform. */
const adobe = (transform: 0 | 1) =>
  Uint8Array.of(0xff, 0xee, 0, 14, ...Buffer.from('Adobe'), 0, 100, 0, 0, 0, 0, transform)

/**
 * Sequential JPEG with 8 bits; the samples equal GDAL's.
 *
 * @param shared tables of the file
 * @throws for damaged or oversized data, before memory is allocated
 */
export async function decodeJpeg(
  bytes: Uint8Array,
  shared: Uint8Array[],
  block: BlockSize,
): Promise<Uint8Array> {
  const segments = readSegments(bytes)
  const frame = segments.find(({ marker }) => SEQUENTIAL_FRAMES.includes(marker))
  if (!frame) throw damaged()
  refuseOtherFrame(frame.bytes, block)
  const stream = Buffer.concat([
    Uint8Array.of(0xff, BEGIN),
    adobe(block.isLuminance ? 1 : 0),
    ...shared,
    ...segments.filter(({ marker }) => !isOfApplication(marker)).map((segment) => segment.bytes),
  ])
  loading ??= newDecoder()
  const pixels = (await loading).decode(stream)
  const samples = new Uint8Array((pixels.length / DECODED_PIXEL_BYTES) * block.depth)
  for (let from = 0, to = 0; to < samples.length; from += DECODED_PIXEL_BYTES) {
    for (let sample = 0; sample < block.depth; sample++) samples[to++] = pixels[from + sample] as number
  }
  return samples
}

export function readSharedTables(bytes: Uint8Array): Uint8Array[] {
  const segments = readSegments(bytes).filter(({ marker }) => marker !== SCAN && !isOfApplication(marker))
  return segments.map((segment) => segment.bytes)
}

interface Segment {
  marker: number
  /** With the marker; the scan runs to the end. */
  bytes: Uint8Array
}

/** Up to the first scan, without begin and end markers. */
function readSegments(bytes: Uint8Array): Segment[] {
  const segments: Segment[] = []
  for (let at = 0; at < bytes.length; ) {
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at++
    const marker = bytes[at + 1]
    if (bytes[at] !== 0xff || marker === undefined) throw damaged()
    if (marker === END) break
    const end = marker === BEGIN ? at + 2 : at + 2 + uint16(bytes, at + 2)
    if (end > bytes.length || (marker !== BEGIN && end < at + 4)) throw damaged()
    if (OTHER_FRAMES.includes(marker)) {
      throw new Error(
        'its JPEG data are progressive, lossless or arithmetically coded: sequential ones are read',
      )
    }
    if (marker === SCAN) return [...segments, { marker, bytes: bytes.subarray(at) }]
    // A copy releases the bytes of the file.
    if (marker !== BEGIN) segments.push({ marker, bytes: bytes.slice(at, end) })
    at = end
  }
  return segments
}

/** The last strip may be as high as the others, or lower. */
function refuseOtherFrame(frame: Uint8Array, block: BlockSize): void {
  const [bits, count] = [frame[4], frame[9] ?? 0]
  if (frame.length < 10 + 3 * count) throw damaged()
  if (bits !== 8) throw new Error(`its JPEG data have samples of ${bits} bits: those of 8 are read`)
  const [height, width] = [uint16(frame, 5), uint16(frame, 7)]
  if (width !== block.width || height > block.height || height === 0 || count !== block.depth) {
    throw new Error(
      `its JPEG data say that they are ${width} x ${height} pixels of ${count} samples, and the block has ${block.width} x ${block.height} of ${block.depth}`,
    )
  }
  const samplings = Array.from({ length: count }, (_, index) => {
    const sampling = frame[11 + 3 * index] as number
    return `${sampling >> 4} x ${sampling & 15}`
  })
  const [first, ...others] = samplings as [string]
  const possible = block.isLuminance ? ['1 x 1', '2 x 1', '2 x 2'] : ['1 x 1']
  if (possible.includes(first) && others.every((sampling) => sampling === '1 x 1')) return
  throw new Error(
    `its JPEG data have ${samplings.join(', ')} samples in a unit: 1 x 1 of each band are read, and of the first of three that are YCbCr 2 x 1 or 2 x 2 as well`,
  )
}

interface Decoder {
  decode(stream: Uint8Array): Uint8ClampedArray
}

let loading: Promise<Decoder> | undefined

async function newDecoder(): Promise<Decoder> {
  const file = createRequire(import.meta.url).resolve('@jsquash/jpeg/codec/dec/mozjpeg_dec.wasm')
  let complaints = 0
  const printErr = () => complaints++
  const decoder = await mozjpeg({ noInitialRun: true, wasmBinary: readFileSync(file), printErr })
  return {
    decode(stream) {
      complaints = 0
      try {
        const image = decoder.decode(stream, false)
        if (image && complaints === 0) return image.data
      } catch {
        // An error ends this instance, which keeps its memory.
        loading = undefined
      }
      throw damaged()
    },
  }
}

function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}

function damaged(): Error {
  return new Error('its JPEG data are damaged')
}
