import { decode, type LercData, load } from 'lerc'
import type { PixelType } from '#src/raster/pixels.ts'
import { COMPRESSIONS, type Compression, NOT_COMPRESSED } from './compression.ts'

/** The compression of the blobs, by the second number of the LercParameters tag. */
const AROUND: Record<number, number> = { 0: NOT_COMPRESSED, 1: 8, 2: 50000 }

/** LERC's pixel types, by the numbers that it has for them. */
const TYPES: PixelType[] = ['8BSI', '8BUI', '16BSI', '16BUI', '32BSI', '32BUI', '32BF', '64BF']

/** A blob has a head and a mask besides its pixels, and is hardly ever larger than they are. */
const SPARE_BYTES = 1024

/** What the head of a blob says of it. */
interface Head {
  rows: number
  columns: number
  depth: number
  blobBytes: number
  type: PixelType | undefined
}

/** What a block of the file has room for. */
interface Room {
  width: number
  height: number
  /** Samples a pixel. */
  depth: number
}

/**
 * Decompresses LERC: a blob a block, which may itself be compressed. What the blob has no value for comes as NaN.
 *
 * @param parameters the LercParameters tag
 * @returns undefined where the blobs are compressed by something unknown
 */
export function lercOf(
  pixelType: PixelType,
  block: Room,
  parameters: ArrayLike<number> | undefined,
): Compression | undefined {
  const around = COMPRESSIONS.get(AROUND[parameters?.[1] ?? 0] as number)
  if (!around) return undefined
  const undo: Compression['undo'] = async (bytes, size, most) => {
    const room = Math.ceil(1.25 * most) + SPARE_BYTES
    const blob = await around.undo(bytes, room, room)
    const { rows, columns, depth, blobBytes, type } = headOf(blob)
    // Its decoder takes memory for what the head says. The last strip may be as high as the others, or lower.
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

/** The decoder compares a checksum, and says no more than a number where it differs. */
function decoded(blob: Uint8Array): LercData {
  try {
    return decode(blob, { returnInterleaved: true })
  } catch {
    throw new Error('its LERC data are damaged')
  }
}

/** Esri's Lerc2, whose versions from 3 have a checksum, and from 4 several samples a pixel. */
function headOf(blob: Uint8Array): Head {
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
