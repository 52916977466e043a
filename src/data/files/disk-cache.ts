import { randomBytes } from 'node:crypto'
import { mkdir, open, opendir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readErrorCode } from '#src/lib/promises.ts'
import { createGuard } from './guard.ts'
import type { Range, RangeReader } from './store.ts'

interface DiskRoomLimits {
  /** What all files together may take. */
  mostBytes: number
  /** How many processes of a service have the folder: each knows only of what it has written itself, until it looks. */
  processes: number
}

/** Keeps a folder within its bound. */
interface DiskRoom {
  /** Whether there can be room for so many bytes. */
  fits(bytes: number): boolean
  /** Notes that a file was written, and removes those used longest ago where there are too many. */
  add(folder: string, bytes: number): Promise<void>
  /** Files that were removed. */
  evictions(): number
}

/** The folders that files lie in, by so many hexadecimal digits. */
const FOLDERS = { digits: 2, count: 256 }

/**
 * Folders are looked after in groups, so that looking at one takes little; a group is still large enough that what is
 * used longest ago in it is about what is used longest ago in all.
 */
const LEAST_GROUP_BYTES = 64 * 2 ** 20

/** The share that stays in a group that was too large, so that it is not swept for each file. */
const PART_KEPT = 0.85

/** What a write has left that was cut off is removed after so long. */
const UNFINISHED_MS = 3_600_000

/**
 * After so much of its own a process looks again, however much room there was: others, of which it knows nothing, may
 * have written as much.
 */
const PART_UNSEEN = 1 / 8

/** What is known of a group: its bytes when they were counted, and what was written by this process since. */
interface Group {
  counted: number
  added: number
  /** Whether somebody counts. */
  counting: boolean
}

interface KeptFile {
  path: string
  bytes: number
  usedAt: number
}

function createDiskRoom(folder: string, { mostBytes, processes }: DiskRoomLimits): DiskRoom {
  const groups = Math.min(FOLDERS.count, Math.max(1, Math.floor(mostBytes / LEAST_GROUP_BYTES)))
  const mostOfGroup = mostBytes / groups
  const known = new Map<number, Group>()
  let evictions = 0

  /** Counts what a group has, and makes room where that is too much. */
  async function look(number: number): Promise<number> {
    const files: KeptFile[] = []
    for (let at = number; at < FOLDERS.count; at += groups) {
      const name = at.toString(16).padStart(FOLDERS.digits, '0')
      await addFilesOf(join(folder, name), files)
    }
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    if (bytes <= mostOfGroup * LOOK_AGAIN_PART) return bytes
    files.sort((a, b) => a.usedAt - b.usedAt)
    for (const file of files) {
      if (bytes <= mostOfGroup * PART_KEPT) break
      await rm(file.path, { force: true })
      bytes -= file.bytes
      evictions++
    }
    return bytes
  }

  return {
    evictions: () => evictions,
    fits: (bytes) => bytes <= mostOfGroup / 8,
    async add(folderName, bytes) {
      const number = Number.parseInt(folderName, 16) % groups
      const group = known.get(number) ?? { counted: Number.POSITIVE_INFINITY, added: 0, counting: false }
      known.set(number, group)
      group.added += bytes
      // Others may have written as much since.
      const isFull = group.counted + group.added * processes > mostOfGroup * LOOK_AGAIN_PART
      if (group.counting || !(isFull || group.added > mostOfGroup * PART_UNSEEN)) return
      group.counting = true
      try {
        const added = group.added
        group.counted = await look(number)
        group.added -= added
      } finally {
        group.counting = false
      }
    },
  }
}

/** A group that is about so full is looked at: what others write meanwhile has room beside it. */
const LOOK_AGAIN_PART = 0.95

/** A part of a file, and what is left of one that was not written to its end. What else lies there is not ours. */
const OWN_NAME = /^[0-9a-f]{64}\.tif\.\d+-\d+(?<rest>\.[0-9a-f]{12})?$/

async function addFilesOf(folder: string, files: KeptFile[]): Promise<void> {
  const entries = await opendir(folder).catch(unlessGone)
  if (!entries) return
  for await (const { name } of entries) {
    const kind = OWN_NAME.exec(name)
    if (!kind) continue
    const path = join(folder, name)
    const found = await stat(path).catch(unlessGone)
    if (!found) continue
    if (kind.groups?.rest && Date.now() - found.mtimeMs > UNFINISHED_MS) await rm(path, { force: true })
    else files.push({ path, bytes: found.size, usedAt: found.mtimeMs })
  }
}

/** What another process has removed meanwhile is nothing to us. */
function unlessGone(error: unknown): undefined {
  if (readErrorCode(error) !== 'ENOENT') throw error
}

interface DiskCacheLimits extends DiskRoomLimits {
  /** A disk that takes longer is passed over: the store may be faster. */
  deadlineMs: number
  /** Parts that may wait to be written, one after the other; what comes beyond is not kept. */
  writes: number
  /** For so long a disk is left alone that could not be written, or did not answer in time. */
  pauseMs: number
}

/** The state of a disk cache. */
export interface DiskCacheState {
  hits: number
  misses: number
  hitBytes: number
  /** How often the disk could not be used, and how often what was on it was damaged: neither is an error to anybody. */
  failures: number
  evictions: number
}

interface DiskCachedRanges extends RangeReader {
  state(): DiskCacheState
  /** Is done when what was read has been written, as far as that goes. */
  settled(): Promise<void>
}

/**
 * Parts that may be read at the same time: a disk that hangs holds up a thread for each, and one for a write, of which
 * Node has four for all files, names of hosts and passwords.
 */
const READS = 2

/** Failures in a row after which a disk is left alone. */
const FAILURES = 5

/** What was used longer ago is marked as used now. */
const USED_AGAIN_MS = 60_000

/**
 * Keeps what is read of a store in a folder nearer by, up to a bound; what was used longest ago goes first. Several
 * processes may have the same folder, and find there what was kept before they started. What is read of it is compared
 * with what was written once, so that a damaged disk is noticed, and so is a full one, which is passed over.
 */
export function diskCached(far: RangeReader, folder: string, limits: DiskCacheLimits): DiskCachedRanges {
  const room = createDiskRoom(folder, limits)
  const writing = new Set<Promise<void>>()
  const counts = { hits: 0, misses: 0, hitBytes: 0, failures: 0 }
  let written = Promise.resolve()
  let writeAgainAt = 0
  const keptInTime = readsIn(folder, limits, () => counts.failures++)

  function keep(range: Range, bytes: Buffer): void {
    if (writing.size >= limits.writes || performance.now() < writeAgainAt || !room.fits(bytes.length)) return
    written = written.then(async () => {
      if (performance.now() < writeAgainAt) return
      await write(range, bytes).catch(() => {
        counts.failures++
        writeAgainAt = performance.now() + limits.pauseMs
      })
    })
    const own = written
    writing.add(own)
    void own.then(() => writing.delete(own))
  }

  async function write(range: Range, bytes: Buffer): Promise<void> {
    const path = pathIn(folder, range)
    const unfinished = `${path}.${randomBytes(6).toString('hex')}`
    await mkdir(join(folder, folderOf(range)), { recursive: true, mode: 0o700 })
    try {
      await writeFile(unfinished, bytes, { flag: 'wx', mode: 0o600 })
      await rename(unfinished, path)
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => {})
      throw error
    }
    await room.add(folderOf(range), bytes.length)
  }

  return {
    state: () => ({ ...counts, evictions: room.evictions() }),
    async settled() {
      await Promise.all(writing)
    },
    async read(range, signal) {
      const known = await keptInTime(range)
      if (known) {
        counts.hits++
        counts.hitBytes += known.length
        return known
      }
      counts.misses++
      const bytes = await far.read(range, signal)
      keep(range, bytes)
      return bytes
    },
  }
}

/**
 * Reads what is kept in a folder, unless the disk is slow: then it is left alone for a while.
 *
 * @param failed is told of each failure
 */
function readsIn(
  folder: string,
  { deadlineMs, pauseMs }: DiskCacheLimits,
  failed: () => void,
): (range: Range) => Promise<Buffer | undefined> {
  const leftAlone = new Error('the disk is left alone')
  const guard = createGuard({
    concurrency: READS,
    deadlineMs,
    failures: FAILURES,
    pauseMs,
    isFailure: (error) => readErrorCode(error) !== 'ENOENT',
    late: () => new Error('the disk does not answer in time'),
    refusal: () => leftAlone,
  })

  return async (range) => {
    const path = pathIn(folder, range)
    try {
      const bytes = await guard.run(() => readKept(path, range.length))
      if (range.isWhole(bytes)) return bytes
      await rm(path, { force: true }).catch(() => {})
      failed()
    } catch (error) {
      if (error !== leftAlone && readErrorCode(error) !== 'ENOENT') failed()
    }
    return undefined
  }
}

/** One of 256 folders, which is that of all parts of a file. */
function folderOf({ name }: Range): string {
  return name.slice(0, FOLDERS.digits)
}

function pathIn(folder: string, range: Range): string {
  const { name, offset, length } = range
  return join(folder, folderOf(range), `${name}.${offset}-${length}`)
}

/**
 * Reads a file, and marks it as used.
 *
 * @throws where it has another length: it was not written to its end
 */
async function readKept(path: string, length: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const { size, mtimeMs } = await file.stat()
    if (size !== length) throw new RangeError(`${path} has ${size} bytes`)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0)
    const now = Date.now()
    // A folder that is closed to writes can still be read.
    if (now - mtimeMs > USED_AGAIN_MS) await utimes(path, now / 1000, now / 1000).catch(() => {})
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
