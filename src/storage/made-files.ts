import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { codeOf } from '#src/lib/caught.ts'

/** A file that was made, and what names its bytes. */
export interface MadeFile {
  bytes: number
  /** The same for the same bytes, and for no others. */
  checksum: string
}

/** A file that is open, until whoever has it closes it. */
export interface OpenMadeFile extends MadeFile {
  handle: FileHandle
}

/** Files that take a while to make and never change, by keys. They are kept in a folder of their own, up to a bound. */
export interface MadeFiles {
  /** What is known of a file, whether it is there now or was before. */
  known(key: string): MadeFile | undefined
  /** Opens a file; undefined where it is not there. */
  open(key: string): Promise<OpenMadeFile | undefined>
  /** Has a file made, once for all who ask meanwhile. */
  make(key: string, write: (path: string) => Promise<MadeFile>): Promise<void>
  /** Removes them all. */
  close(): Promise<void>
}

/** So many files at most, however small. */
const MOST_FILES = 1000

/** Of so many more it is known what they were: a hundred bytes each. */
const MOST_KNOWN = 10_000

/**
 * @param parent where the folder is made, with the first file
 * @param mostBytes that all files take together; what is just being made comes on top of it
 */
export function createMadeFiles(parent: string, mostBytes: number): MadeFiles {
  const known = new LRUCache<string, MadeFile>({ max: MOST_KNOWN })
  const making = new Map<string, Promise<void>>()
  let folder: Promise<string> | undefined
  const kept = new LRUCache<string, MadeFile & { path: string }>({
    max: MOST_FILES,
    maxSize: mostBytes,
    sizeCalculation: ({ bytes }) => bytes,
    // Whoever has it open reads it to its end.
    dispose: ({ path }) => void rm(path, { force: true }).catch(() => {}),
  })

  async function folderOfOwn(): Promise<string> {
    folder ??= mkdtemp(join(parent, 'agro-downloads-'))
    try {
      return await folder
    } catch (error) {
      folder = undefined
      throw error
    }
  }

  async function made(key: string, write: (path: string) => Promise<MadeFile>): Promise<void> {
    const path = join(await folderOfOwn(), randomBytes(9).toString('hex'))
    try {
      const { bytes, checksum } = await write(path)
      known.set(key, { bytes, checksum })
      kept.set(key, { bytes, checksum, path })
    } finally {
      // It may have failed, or be too large to be kept.
      if (kept.peek(key)?.path !== path) await rm(path, { force: true })
    }
  }

  return {
    known: (key) => known.get(key),
    async open(key) {
      const file = kept.get(key)
      if (!file) return undefined
      try {
        return { bytes: file.bytes, checksum: file.checksum, handle: await open(file.path) }
      } catch (error) {
        // Others have made room, or somebody has cleaned up.
        if (codeOf(error) !== 'ENOENT') throw error
        if (kept.peek(key) === file) kept.delete(key)
        return undefined
      }
    },
    make(key, write) {
      const begun = making.get(key)
      if (begun) return begun
      const ending = made(key, write).finally(() => making.delete(key))
      making.set(key, ending)
      return ending
    },
    async close() {
      await Promise.allSettled(making.values())
      kept.clear()
      const own = await folder?.catch(() => undefined)
      if (own !== undefined) await rm(own, { recursive: true, force: true })
    },
  }
}
