import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { codeOf } from '#src/lib/caught.ts'
import { createDiskRoom, type DiskRoomLimits, FOLDERS } from './disk-room.ts'
import type { Range, RangeReader } from './ranges.ts'

export interface DiskCacheLimits extends DiskRoomLimits {
  /** A disk that takes longer is passed over: the store may be faster. */
  deadlineMs: number
  /** Parts that may be written at the same time; what comes beyond is not kept. */
  writes: number
  /** For so long a disk is left alone that could not be written, or did not answer in time. */
  pauseMs: number
}

/** What is known of a disk cache. */
export interface DiskCacheState {
  hits: number
  misses: number
  hitBytes: number
  /** How often the disk could not be used, and how often what was on it was damaged: neither is an error to anybody. */
  failures: number
  evictions: number
}

export interface DiskCachedRanges extends RangeReader {
  state(): DiskCacheState
  /** Is done when what was read has been written, as far as that goes. */
  settled(): Promise<void>
}

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
  let readAgainAt = 0
  let writeAgainAt = 0

  async function kept(range: Range): Promise<Buffer | undefined> {
    const path = pathIn(folder, range)
    try {
      const bytes = await readKept(path, range.length)
      if (bytes === undefined) return undefined
      if (range.isWhole(bytes)) return bytes
      await rm(path, { force: true })
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
    }
    counts.failures++
    return undefined
  }

  /** The same, unless the disk is slow: then it is left alone for a while, since what waits for it holds others up. */
  async function keptInTime(range: Range): Promise<Buffer | undefined> {
    if (performance.now() < readAgainAt) return undefined
    const found = await inTime(kept(range), limits.deadlineMs)
    if (found !== LATE) return found
    counts.failures++
    readAgainAt = performance.now() + limits.pauseMs
    return undefined
  }

  function keep(range: Range, bytes: Buffer): void {
    if (writing.size >= limits.writes || performance.now() < writeAgainAt || !room.fits(bytes.length)) return
    const written = write(range, bytes).catch(() => {
      counts.failures++
      writeAgainAt = performance.now() + limits.pauseMs
    })
    writing.add(written)
    void written.then(() => writing.delete(written))
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

/** One of 256 folders, which is that of all parts of a file. */
function folderOf({ name }: Range): string {
  return name.slice(0, FOLDERS.digits)
}

function pathIn(folder: string, range: Range): string {
  const { name, offset, length } = range
  return join(folder, folderOf(range), `${name}.${offset}-${length}`)
}

/** Reads a file of a length, and marks it as used; undefined where it has another: it was not written to its end. */
async function readKept(path: string, length: number): Promise<Buffer | undefined> {
  const file = await open(path)
  try {
    const { size, mtimeMs } = await file.stat()
    if (size !== length) throw new RangeError(`${path} has ${size} bytes`)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0)
    const now = Date.now()
    // That nobody may write there is no reason not to read.
    if (now - mtimeMs > USED_AGAIN_MS) await utimes(path, now / 1000, now / 1000).catch(() => {})
    return bytesRead === length ? buffer : undefined
  } finally {
    await file.close()
  }
}

const LATE = Symbol('late')

/** What is found in time. */
async function inTime<Found>(finding: Promise<Found>, milliseconds: number): Promise<Found | typeof LATE> {
  const found = new AbortController()
  const late = setTimeout(milliseconds, LATE, { signal: found.signal, ref: false }).catch(() => LATE)
  return Promise.race([finding, late]).finally(() => found.abort()) as Promise<Found | typeof LATE>
}
