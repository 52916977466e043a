import * as encoder from '@bokuweb/zstd-wasm'
import { ZSTDDecoder } from 'zstddec'

/** Faster levels make files of digits a tenth larger, slower ones hardly smaller. */
const LEVEL = 3

/** Compresses and decompresses by Zstandard, which zlib has in no version of Node 20. */
export interface Zstd {
  /** @throws {Error} where what comes of it is not what was given */
  compress(bytes: Uint8Array): Uint8Array
  /**
   * @param size of what was compressed
   * @throws {Error} where it is something else
   */
  decompress(bytes: Uint8Array, size: number): Uint8Array
}

let loading: Promise<Zstd> | undefined

/** Loads what compresses, once in a process: a library that is made anew spoils what the first one has in hand. */
export function loadZstd(): Promise<Zstd> {
  loading ??= load()
  return loading
}

/** Two libraries, one of which holds the other to its word: that one alone compresses, and decompresses more slowly. */
async function load(): Promise<Zstd> {
  const decoder = new ZSTDDecoder()
  await Promise.all([encoder.init(), decoder.init()])
  function decompress(bytes: Uint8Array, size: number): Uint8Array {
    const decompressed = decoder.decode(bytes, size)
    if (decompressed.length !== size) throw new Error(`${decompressed.length} bytes instead of ${size}`)
    return decompressed
  }

  return {
    decompress,
    compress(bytes) {
      const compressed = encoder.compress(bytes as Buffer, LEVEL)
      if (Buffer.compare(decompress(compressed, bytes.length), bytes) === 0) return compressed
      throw new Error('what was compressed by Zstandard cannot be decompressed')
    },
  }
}
