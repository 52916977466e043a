import * as encoder from '@bokuweb/zstd-wasm'
import { ZSTDDecoder } from 'zstddec'

/** Faster levels make files a tenth larger, slower ones hardly smaller. */
const LEVEL = 3

/** Zstandard, which Node 20 has not. */
export interface Zstd {
  /** Decompresses the result as a check. */
  compress(bytes: Uint8Array): Uint8Array
  /** @param size of the result; another one is an error */
  decompress(bytes: Uint8Array, size: number): Uint8Array
}

let loading: Promise<Zstd> | undefined

/** Once in a process: a second instance of the library spoils the first one. */
export function loadZstd(): Promise<Zstd> {
  loading ??= load()
  return loading
}

/** Two libraries: one alone compresses, the other decompresses faster and checks it. */
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
