import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { access, type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { codeOf } from '#src/lib/caught.ts'
import { makeOwnFolder } from './own-folders.ts'

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
  /**
   * Whether no file may be made for now: those that had to make room and are still being read take as many bytes beside
   * the ones that are kept as all of them may. Whoever makes one asks first.
   */
  isFull(): boolean
  /** Has a file made, once for all who ask meanwhile. */
  make(key: string, write: (path: string) => Promise<MadeFile>): Promise<void>
  /** Removes them all. */
  close(): Promise<void>
}

interface KeptFile extends MadeFile {
  key: string
  path: string
}

/** So many files at most, however small. */
const MOST_FILES = 1000

/** Of so many more it is known what they were: a hundred bytes each. */
const MOST_KNOWN = 10_000

/** So many times what is kept, files may take with those that are read to their end although they were removed. */
const MOST_WITH_READ = 2

/** So many times what is kept, the disk has at the most: with the one file that is made, and its parts beside it. */
export const MOST_ON_DISK = MOST_WITH_READ + 2

/**
 * @param parent where the folder is made, with the first file
 * @param mostBytes that all files take together; what is just being made comes on top of it
 */
export function createMadeFiles(parent: string, mostBytes: number): MadeFiles {
  const known = new LRUCache<string, MadeFile>({ max: MOST_KNOWN })
  const making = new Map<string, Promise<void>>()
  /** How often files are open: of one that was removed the disk has the bytes until nobody reads it any more. */
  const readers = new Map<KeptFile, number>()
  let folder: Promise<string> | undefined
  const kept = new LRUCache<string, KeptFile>({
    max: MOST_FILES,
    maxSize: mostBytes,
    sizeCalculation: ({ bytes }) => bytes,
    // Whoever has it open reads it to its end.
    dispose: ({ path }) => void rm(path, { force: true }).catch(() => {}),
  })

  /** Where it is not there, it is forgotten, and made with the next call. */
  async function folderOfOwn(): Promise<string> {
    folder ??= makeOwnFolder(parent, 'agro-downloads-')
    const known = folder
    try {
      const path = await known
      await access(path)
      return path
    } catch (error) {
      // Others may have had a new one made meanwhile.
      if (folder === known) folder = undefined
      throw error
    }
  }

  async function made(key: string, write: (path: string) => Promise<MadeFile>): Promise<void> {
    // Somebody may have cleaned it away, as systemd-tmpfiles does.
    const own = await folderOfOwn().catch(folderOfOwn)
    const path = join(own, randomBytes(9).toString('hex'))
    try {
      const { bytes, checksum } = await write(path)
      known.set(key, { bytes, checksum })
      kept.set(key, { key, bytes, checksum, path })
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
        return { bytes: file.bytes, checksum: file.checksum, handle: await openCounted(file, readers) }
      } catch (error) {
        // Others have made room, or somebody has cleaned up.
        if (codeOf(error) !== 'ENOENT') throw error
        if (kept.peek(key) === file) kept.delete(key)
        return undefined
      }
    },
    isFull() {
      let bytes = kept.calculatedSize
      for (const file of readers.keys()) if (kept.peek(file.key) !== file) bytes += file.bytes
      return bytes > MOST_WITH_READ * mostBytes
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

/** Opens a file, and counts it among those that are open until it is closed. */
async function openCounted(file: KeptFile, readers: Map<KeptFile, number>): Promise<FileHandle> {
  const handle = await open(file.path)
  readers.set(file, (readers.get(file) ?? 0) + 1)
  // Its type does not say that it tells of its events.
  ;(handle as FileHandle & EventEmitter).once('close', () => {
    const left = (readers.get(file) as number) - 1
    if (left > 0) readers.set(file, left)
    else readers.delete(file)
  })
  return handle
}
