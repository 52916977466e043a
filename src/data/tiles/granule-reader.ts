import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Window } from '#src/raster/grid.ts'
import { bytesOf } from '#src/raster/pixels.ts'
import type { RangeReader } from '../files/store.ts'
import {
  BLOCK_SIZE,
  blockIndexOf,
  decodeBlock,
  decodeHeader,
  type Granule,
  isHeaderOf,
  rangeOf,
  type WindowPixels,
} from './granule.ts'
import { loadZstd } from './tiff.ts'
import type { GranuleFile } from './tile-queries.ts'

/** Headers in memory; each is some kilobytes. */
const MOST_HEADERS = 4096

/** Of blocks that were read last: places near each other are asked for one after the other. */
const MOST_BLOCK_BYTES = 32 * 2 ** 20

/** Reads granules in parts. */
export interface GranuleReader {
  /**
   * @throws {StorageUnavailable} where the store does not answer
   * @throws {FileMissing} where it has no such granule
   * @throws {FileDamaged} where that is not what was written
   */
  header(file: GranuleFile): Promise<Granule>
  /** The pixels of the block that has a pixel of the grid; null where none of them has a value. It throws the same. */
  block(file: GranuleFile, pixel: Pick<Window, 'row' | 'column'>): Promise<WindowPixels | null>
  /** How many headers and blocks were in memory. */
  hits(): number
}

export function createGranuleReader(files: RangeReader): GranuleReader {
  const headers = new LRUCache<string, Promise<Granule>>({ max: MOST_HEADERS })
  const blocks = new LRUCache<string, Promise<WindowPixels | null>>({
    maxSize: MOST_BLOCK_BYTES,
  })
  let hits = 0

  /** Whoever asks for the same meanwhile waits for the same; of a failure nothing is kept. */
  function once<Found>(
    cache: LRUCache<string, Promise<Found>>,
    key: string,
    read: () => Promise<Found>,
    size?: number,
  ): Promise<Found> {
    const known = cache.get(key)
    if (known) {
      hits++
      return known
    }
    const reading = read()
    cache.set(key, reading, { size })
    reading.catch(() => {
      // It may have made room for others, and be read anew by now.
      if (cache.peek(key) === reading) cache.delete(key)
    })
    return reading
  }

  async function readBlock(file: GranuleFile, granule: Granule, index: number): Promise<WindowPixels | null> {
    const range = rangeOf(granule, index)
    if (range === null) return null
    const bytes = await files.read({ ...range, name: fileNameOf(file) })
    const zstd = await loadZstd()
    // What others wait for comes between two blocks.
    await setImmediate()
    return decodeBlock(zstd, granule, index, bytes)
  }

  const header: GranuleReader['header'] = (file) =>
    once(headers, file.name, async () => {
      const range = { name: fileNameOf(file), offset: 0, length: file.headerBytes }
      return decodeHeader(await files.read({ ...range, isWhole: (bytes) => isHeaderOf(file.name, bytes) }))
    })

  return {
    hits: () => hits,
    header,
    async block(file, pixel) {
      const granule = await header(file)
      if (!hasPixel(granule, pixel)) return null
      const index = blockIndexOf(granule, pixel)
      return once(
        blocks,
        `${file.name} ${index}`,
        () => readBlock(file, granule, index),
        decodedBytesOf(granule),
      )
    },
  }
}

/** Whether a pixel is one of a granule: those at the edge of a grid are smaller. */
function hasPixel({ window }: Granule, { row, column }: Pick<Window, 'row' | 'column'>): boolean {
  return row < window.row + window.height && column < window.column + window.width
}

/** Bytes of the pixels of a block. */
function decodedBytesOf({ bands }: Granule): number {
  return BLOCK_SIZE ** 2 * bands.reduce((sum, { pixelType }) => sum + bytesOf(pixelType), 0)
}

/** What a granule is called in its store. */
export function fileNameOf({ name }: Pick<GranuleFile, 'name'>): string {
  return `${name}.tif`
}
