import { setImmediate } from 'node:timers/promises'
import { Cache } from '#src/lib/cache.ts'
import type { Window } from '#src/raster/grid.ts'
import type { RangeReader } from '../files/store.ts'
import {
  decodeBlock,
  decodeHeader,
  findBlockIndex,
  findBlockRange,
  type Granule,
  isGranuleHeader,
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
    // What others wait for comes between two blocks.
    await setImmediate()
    return decodeBlock(zstd, granule, index, bytes)
  }

  const header: GranuleReader['header'] = (file) =>
    headers.load(file.name, async () => {
      const range = { name: fileNameOf(file), offset: 0, length: file.headerBytes }
      return decodeHeader(
        await files.read({ ...range, isWhole: (bytes) => isGranuleHeader(file.name, bytes) }),
      )
    })

  return {
    hits: () => headers.statistics().hits + blocks.statistics().hits,
    header,
    async block(file, pixel) {
      const granule = await header(file)
      if (!hasPixel(granule, pixel)) return null
      const index = findBlockIndex(granule, pixel)
      return blocks.load(`${file.name} ${index}`, () => readBlock(file, granule, index))
    },
  }
}

/** Whether a pixel is one of a granule: those at the edge of a grid are smaller. */
function hasPixel({ window }: Granule, { row, column }: Pick<Window, 'row' | 'column'>): boolean {
  return row < window.row + window.height && column < window.column + window.width
}

/** What a granule is called in its store. */
export function fileNameOf({ name }: Pick<GranuleFile, 'name'>): string {
  return `${name}.tif`
}
