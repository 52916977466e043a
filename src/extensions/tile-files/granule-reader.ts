import { setImmediate } from 'node:timers/promises'
import { Cache } from '#src/lib/cache.ts'
import type { Window } from '#src/raster/grid.ts'
import {
  decodeBlock,
  decodeHeader,
  findBlockIndex,
  findBlockRange,
  type Granule,
  isGranuleHeader,
  type WindowPixels,
} from './granule.ts'
import type { GranuleFile } from './queries.ts'
import type { RangeReader } from './store.ts'
import { loadZstd } from './zstd.ts'

/** Headers in memory, of some kilobytes each. */
const MOST_HEADERS = 4096

/** Requests for neighbouring tiles come one after another. */
const MOST_BLOCK_BYTES = 32 * 2 ** 20

export type GranuleReader = ReturnType<typeof createGranuleReader>

/** Its functions throw StorageUnavailable, FileMissing and FileDamaged. */
export function createGranuleReader(files: RangeReader) {
  const headers = new Cache<string, Granule>('granule headers', { max: MOST_HEADERS })
  const blocks = new Cache<string, WindowPixels | null>('granule blocks', {
    maxSize: MOST_BLOCK_BYTES,
    sizeOf: (block) => 1 + (block?.pixels.reduce((sum, { byteLength }) => sum + byteLength, 0) ?? 0),
  })

  async function readBlock(file: GranuleFile, granule: Granule, index: number): Promise<WindowPixels | null> {
    const range = findBlockRange(granule, index)
    if (range === null) return null
    const bytes = await files.read({ ...range, name: fileNameOf(file) })
    const zstd = await loadZstd()
    // Others proceed between two blocks.
    await setImmediate()
    return decodeBlock(zstd, granule, index, bytes)
  }

  const header = (file: GranuleFile): Promise<Granule> =>
    headers.load(file.name, async () => {
      const range = { name: fileNameOf(file), offset: 0, length: file.headerBytes }
      return decodeHeader(
        await files.read({ ...range, isWhole: (bytes) => isGranuleHeader(file.name, bytes) }),
      )
    })

  return {
    /** Headers and blocks from memory. */
    hits: () => headers.statistics().hits + blocks.statistics().hits,
    header,
    /** The block with a pixel of the grid; null where it has no value. */
    async block(file: GranuleFile, pixel: Pick<Window, 'row' | 'column'>): Promise<WindowPixels | null> {
      const granule = await header(file)
      if (!hasPixel(granule, pixel)) return null
      const index = findBlockIndex(granule, pixel)
      return blocks.load(`${file.name} ${index}`, () => readBlock(file, granule, index))
    },
  }
}

/** Granules at the edge of a grid are smaller. */
function hasPixel({ window }: Granule, { row, column }: Pick<Window, 'row' | 'column'>): boolean {
  return row < window.row + window.height && column < window.column + window.width
}

export function fileNameOf({ name }: Pick<GranuleFile, 'name'>): string {
  return `${name}.tif`
}
