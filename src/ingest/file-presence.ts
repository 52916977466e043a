import { rangesOf } from '#src/storage/ranges.ts'
import { type FileStore, StorageUnavailable } from '#src/storage/store.ts'
import { isHeaderOf } from '#src/tiles/decode-granule.ts'
import { isUnreadable } from '#src/tiles/failures.ts'
import { fileNameOf } from '#src/tiles/granule-reader.ts'
import type { NamedGranule } from './move-queries.ts'

/** What was found of some of the files that a database names. */
export interface FilePresence {
  looked: number
  /** The names of those that are not there as they were written, with why. */
  absent: { name: string; reason: string }[]
}

/** Files that are looked for at the same time. */
const AT_A_TIME = 8

/**
 * Looks whether granules are in a store: reads what each begins with, which its name is the sum of, and its last byte.
 *
 * @throws {StorageUnavailable} where it does not answer
 */
export async function lookForFiles(files: FileStore, granules: NamedGranule[]): Promise<FilePresence> {
  const ranges = rangesOf(files)
  const absent: FilePresence['absent'] = []
  const left = granules.values()

  async function look(granule: NamedGranule): Promise<void> {
    const name = fileNameOf(granule)
    const isWhole = (bytes: Buffer) => isHeaderOf(granule.name, bytes)
    try {
      await ranges.read({ name, offset: 0, length: granule.headerBytes, isWhole })
      await files.read(name, granule.bytes - 1, 1)
    } catch (error) {
      if (!isUnreadable(error) || (error instanceof StorageUnavailable && !error.hasAnswered)) throw error
      absent.push({ name, reason: (error as Error).message })
    }
  }

  async function lane(): Promise<void> {
    for (const granule of left) await look(granule)
  }

  await Promise.all(Array.from({ length: AT_A_TIME }, lane))
  return { looked: granules.length, absent }
}
