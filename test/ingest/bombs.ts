import { constants, deflateRawSync } from 'node:zlib'

const CHUNK_BYTES = 16 * 2 ** 20

/**
 * DEFLATE data of zeros, of any size in no time: each part is flushed, so that it can be written again and
 * again. About a thousandth of the size.
 */
export function deflatedZeros(bytes: number): Buffer {
  const part = deflateRawSync(Buffer.alloc(CHUNK_BYTES), { finishFlush: constants.Z_FULL_FLUSH })
  const rest = deflateRawSync(Buffer.alloc(bytes % CHUNK_BYTES))
  return Buffer.concat([...Array(Math.floor(bytes / CHUNK_BYTES)).fill(part), rest])
}

/** The same as a zlib stream, which TIFFs are made of; its sum at the end is not that of the zeros. */
export function zlibZeros(bytes: number): Buffer {
  return Buffer.concat([Buffer.from([0x78, 0x9c]), deflatedZeros(bytes), Buffer.alloc(4)])
}
