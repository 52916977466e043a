import { mkdir, open, opendir, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readErrorCode } from '#src/lib/promises.ts'
import { createGuard } from './guard.ts'
import { type Range, type RangeReader, writeWhole } from './store.ts'

interface DiskRoomLimits {
  /** Bytes of all files together. */
  mostBytes: number
  /** Processes with this folder: each counts its own files alone between two sweeps. */
  processes: number
}

/** Hexadecimal digits of a folder. */
const FOLDER_DIGITS = 2
const FOLDERS = 256

/**
 * Folders are swept in groups, so that a sweep is short. In a group of this size, the files of the earliest use are about
 * those of all.
 */
const LEAST_GROUP_BYTES = 64 * 2 ** 20

/** A group above the first share is swept down to the second. */
const FULL = 0.95
const SWEPT = 0.85

/** A group is swept after a process has written this share, since other processes write too. */
const UNSEEN = 1 / 8

/** Age of a file that was cut off before a sweep removes it. */
const UNFINISHED_MS = 3_600_000

interface StoredFile {
  path: string
  bytes: number
  usedAt: number
}

/** Keeps a folder within its bound. */
function createDiskRoom(folder: string, { mostBytes, processes }: DiskRoomLimits) {
  const groups = Math.min(FOLDERS, Math.max(1, Math.floor(mostBytes / LEAST_GROUP_BYTES)))
  const mostOfGroup = mostBytes / groups
  /** Bytes of each group until its next sweep. */
  const left = new Map<number, number>()
  let evictions = 0

  /** Gives the bytes that stay in a group. */
  async function sweep(group: number): Promise<number> {
    const files: StoredFile[] = []
    for (let at = group; at < FOLDERS; at += groups) {
      await addFilesOf(join(folder, at.toString(16).padStart(FOLDER_DIGITS, '0')), files)
    }
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    if (bytes <= mostOfGroup * FULL) return bytes
    files.sort((a, b) => a.usedAt - b.usedAt)
    for (const file of files) {
      if (bytes <= mostOfGroup * SWEPT) break
      await rm(file.path, { force: true })
      bytes -= file.bytes
      evictions++
    }
    return bytes
  }

  return {
    evictions: () => evictions,
    /** Whether there can be room for so many bytes. */
    fits: (bytes: number) => bytes <= mostOfGroup / 8,
    /** Counts a new file, and evicts the files of the earliest use where the folder is full. */
    async add(folderName: string, bytes: number): Promise<void> {
      const group = Number.parseInt(folderName, 16) % groups
      let more = (left.get(group) ?? 0) - bytes
      if (more <= 0) {
        const room = mostOfGroup * FULL - (await sweep(group))
        more = Math.min(mostOfGroup * UNSEEN, room / processes)
      }
      left.set(group, more)
    },
  }
}

/** A part of a file, or the rest of one that was cut off. Other files are not ours. */
const OWN_NAME = /^[0-9a-f]{64}\.tif\.\d+-\d+(?<rest>\.[0-9a-f]{12})?$/

async function addFilesOf(folder: string, files: StoredFile[]): Promise<void> {
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

/** Another process may have removed it. */
function unlessGone(error: unknown): undefined {
  if (readErrorCode(error) !== 'ENOENT') throw error
}

interface DiskCacheLimits extends DiskRoomLimits {
  /** A slower disk is passed over: the store may be faster. */
  deadlineMs: number
  /** Parts that wait for their write; others are not stored. */
  writes: number
  /** Pause after a failed write, and after several failed reads. */
  pauseMs: number
}

/** A disk that hangs blocks a thread for each read and one for a write; Node has four for files, host names and passwords. */
const READS = 2

/** Failures in a row before a pause. */
const FAILURES = 5

/** A file of an earlier use is marked as used now. */
const USED_AGAIN_MS = 60_000

/**
 * Caches parts of files in a folder near by, which several processes may share. It finds damaged parts by their checksums,
 * and passes over a disk that is full, slow or broken.
 */
export function diskCached(far: RangeReader, folder: string, limits: DiskCacheLimits) {
  const room = createDiskRoom(folder, limits)
  const counts = { hits: 0, misses: 0, hitBytes: 0, failures: 0 }
  /** One write after another. */
  let written = Promise.resolve()
  let waiting = 0
  let writeAgainAt = 0
  const readStored = readsIn(folder, limits, () => counts.failures++)

  const isPaused = () => performance.now() < writeAgainAt

  function store(range: Range, bytes: Buffer): void {
    if (waiting >= limits.writes || isPaused() || !room.fits(bytes.length)) return
    waiting++
    written = written.then(async () => {
      if (!isPaused()) await write(range, bytes).catch(fail)
      waiting--
    })
  }

  function fail(): void {
    counts.failures++
    writeAgainAt = performance.now() + limits.pauseMs
  }

  async function write(range: Range, bytes: Buffer): Promise<void> {
    const path = pathIn(folder, range)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeWhole(path, bytes, { mode: 0o600 })
    await room.add(folderOf(range), bytes.length)
  }

  return {
    state: () => ({ ...counts, evictions: room.evictions() }),
    /** Waits for the writes. */
    settled: () => written,
    async read(range: Range, signal?: AbortSignal): Promise<Buffer> {
      const stored = await readStored(range)
      if (stored) {
        counts.hits++
        counts.hitBytes += stored.length
        return stored
      }
      counts.misses++
      const bytes = await far.read(range, signal)
      store(range, bytes)
      return bytes
    },
  }
}

/** Reads stored parts; undefined for a miss, a failure and during a pause. */
function readsIn(
  folder: string,
  { deadlineMs, pauseMs }: DiskCacheLimits,
  failed: () => void,
): (range: Range) => Promise<Buffer | undefined> {
  const paused = new Error('the disk is left alone')
  const guard = createGuard({
    concurrency: READS,
    deadlineMs,
    failures: FAILURES,
    pauseMs,
    isFailure: (error) => readErrorCode(error) !== 'ENOENT',
    late: () => new Error('the disk does not answer in time'),
    refusal: () => paused,
  })

  return async (range) => {
    const path = pathIn(folder, range)
    try {
      const bytes = await guard.run(() => readFileAt(path, range.length))
      if (range.isWhole(bytes)) return bytes
      await rm(path, { force: true }).catch(() => {})
      failed()
    } catch (error) {
      if (error !== paused && readErrorCode(error) !== 'ENOENT') failed()
    }
    return undefined
  }
}

/** All parts of a file lie in one folder. */
function folderOf({ name }: Range): string {
  return name.slice(0, FOLDER_DIGITS)
}

function pathIn(folder: string, range: Range): string {
  const { name, offset, length } = range
  return join(folder, folderOf(range), `${name}.${offset}-${length}`)
}

/** Reads a file, and marks it as used; rejects a file that was cut off. */
async function readFileAt(path: string, length: number): Promise<Buffer> {
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
