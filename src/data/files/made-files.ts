import { createHash, randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { access, type FileHandle, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { Cache } from '#src/lib/cache.ts'
import { readErrorCode } from '#src/lib/promises.ts'

/** What names the owner of a folder: its machine or container, its process, and when that started. */
const OWNER = /^(?<host>[0-9a-f]{12})-(?<pid>\d{1,10})-(?<start>\d+)-\w{6}$/

/**
 * Makes a folder that is this process's own, and removes those of processes that ended without removing theirs. It
 * leaves those of other machines and containers, whose processes cannot be seen from here.
 *
 * @param parent what it is made in
 * @param prefix what its name begins with, and no others' do
 */
export async function makeOwnFolder(parent: string, prefix: string): Promise<string> {
  await removeAbandoned(parent, prefix)
  return mkdtemp(join(parent, `${prefix}${hostName()}-${process.pid}-${await startOf(process.pid)}-`))
}

async function removeAbandoned(parent: string, prefix: string): Promise<void> {
  const entries = await readdir(parent, { withFileTypes: true })
  for (const entry of entries) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue
    const { host, pid, start } = OWNER.exec(entry.name.slice(prefix.length))?.groups ?? {}
    if (host !== hostName() || (await startOf(Number(pid))) === start) continue
    // It is another user's, or another process removes it: new files do not need it.
    await rm(join(parent, entry.name), { recursive: true, force: true }).catch(() => {})
  }
}

/** The same for all processes that see each other, and nothing but letters of a name. */
function hostName(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 12)
}

/**
 * When a process started, in ticks since the machine did: another one may have its number later. `0` where the system
 * does not tell; undefined where there is no such process.
 */
async function startOf(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (readErrorCode(error) === 'ESRCH') return undefined
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // Behind the name, which is in brackets and may have any letters, it is the twentieth field.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

/** A file that was made, and what names its bytes. */
export interface MadeFile {
  bytes: number
  /** The same for the same bytes, and for no others. */
  checksum: string
}

/** A file that is open until its reader closes it. */
export interface OpenMadeFile extends MadeFile {
  handle: FileHandle
}

/** Files that take a while to make and never change, by keys. They are kept in a folder of their own, up to a bound. */
export interface MadeFiles {
  /** The size and checksum of a file, whether it is there now or was before. */
  known(key: string): MadeFile | undefined
  /** Opens a file; undefined where it is not there. */
  open(key: string): Promise<OpenMadeFile | undefined>
  /**
   * Whether no file may be made for now: those that had to make room and are still being read take as many bytes beside
   * the ones that are kept as all of them may. The maker asks first.
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

/** The bound of stored files, times this, holds with removed files that are still read. */
const MOST_WITH_READ = 2

/** The bound of the disk, in the same unit: with one new file, and its parts beside it. */
export const MOST_ON_DISK = MOST_WITH_READ + 2

/**
 * @param parent where the folder is made, with the first file
 * @param mostBytes that all files take together; what is just being made comes on top of it
 */
export function createMadeFiles(parent: string, mostBytes: number): MadeFiles {
  const known = new Cache<string, MadeFile>('known files', { max: MOST_KNOWN })
  const making = new Map<string, Promise<void>>()
  /** How often files are open: of one that was removed the disk has the bytes until nobody reads it any more. */
  const readers = new Map<KeptFile, number>()
  let folder: Promise<string> | undefined
  const kept = new Cache<string, KeptFile>('made files', {
    max: MOST_FILES,
    maxSize: mostBytes,
    sizeOf: ({ bytes }) => bytes,
    // A reader that has it open reads it to its end.
    onRemoved: ({ path }) => void rm(path, { force: true }).catch(() => {}),
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
        if (readErrorCode(error) !== 'ENOENT') throw error
        if (kept.peek(key) === file) kept.delete(key)
        return undefined
      }
    },
    isFull() {
      let bytes = kept.size
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
