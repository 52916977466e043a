import { access, constants, mkdir } from 'node:fs/promises'
import type { Config } from '#src/config.ts'
import { formatError } from '#src/lib/promises.ts'
import { type DiskCacheState, diskCached } from './disk-cache.ts'
import { createGuard } from './guard.ts'
import {
  createRangeReader,
  FileDamaged,
  FileMissing,
  type FileStore,
  type Range,
  type RangeReader,
  StorageUnavailable,
} from './store.ts'

/** What was read of a store, and whether it is away. */
interface GuardState {
  isAway: boolean
  reads: number
  bytes: number
  /** How many failed, by why: `refused` are those that the store was not asked for. */
  errors: Record<'unavailable' | 'missing' | 'damaged' | 'refused', number>
}

interface StoreLimits {
  concurrency: number
  deadlineMs: number
  failures: number
  pauseMs: number
}

/**
 * Reads from a store that may be slow or away, with a bounded wait.
 *
 * @param place of the store, for people
 */
export function guarded(place: string, ranges: RangeReader, limits: StoreLimits) {
  const errors: GuardState['errors'] = { unavailable: 0, missing: 0, damaged: 0, refused: 0 }
  let reads = 0
  let bytes = 0
  const guard = createGuard({
    ...limits,
    isFailure: isAway,
    late: () => new StorageUnavailable(`the files at ${place} cannot be reached: they do not answer in time`),
    refusal: () => new NotAsked(place),
  })
  return {
    state: (): GuardState => ({ isAway: guard.isAway(), reads, bytes, errors: { ...errors } }),
    async read(range: Range): Promise<Buffer> {
      try {
        const read = await guard.run((signal) => {
          reads++
          return ranges.read(range, signal)
        })
        bytes += read.length
        return read
      } catch (error) {
        errors[kindOf(error)]++
        throw error
      }
    },
  }
}

class NotAsked extends StorageUnavailable {
  constructor(place: string) {
    super(`the files at ${place} were not asked for: they could not be reached just now`)
  }
}

function kindOf(error: unknown): keyof GuardState['errors'] {
  if (error instanceof FileMissing) return 'missing'
  if (error instanceof FileDamaged) return 'damaged'
  return error instanceof NotAsked ? 'refused' : 'unavailable'
}

/** Whether a store has not answered; where it has, others may be answered better. */
function isAway(error: unknown): boolean {
  if (error instanceof FileMissing || error instanceof FileDamaged) return false
  return !(error instanceof StorageUnavailable && error.hasAnswered)
}

/** What a process that answers reads files by. */
export interface ServedFiles {
  ranges: RangeReader
  /** What was asked of the store itself. */
  store(): GuardState
  /** What a disk nearer by had; null where there is none. */
  disk(): DiskCacheState | null
}

/**
 * Reads of a folder that may be under way: a disk that hangs holds up a thread for each, of which Node has four for all
 * files and names of hosts.
 */
const READS_OF_FOLDER = 2
/** Of a server: more would take as long, and have it wait. */
const READS_OF_SERVER = 32

/** A moment of trouble passes unnoticed, and later requests are answered at once. */
const AWAY = { failures: 5, pauseMs: 1000 }

/** A disk near by takes a millisecond or so. */
const DISK = { deadlineMs: 250, writes: 32, pauseMs: 10_000 }

interface Log {
  warn(details: object, message: string): void
}

/** Has the files of TILE_STORE read through the cache on a disk, where there is one, and no longer than they may take. */
export function serveFiles(config: Config, files: FileStore, log: Log): ServedFiles {
  const { TILE_STORE, TILE_STORE_TIMEOUT_MS, TILE_DISK_CACHE_DIR, TILE_DISK_CACHE_MB, WORKERS } = config
  const concurrency = TILE_STORE.startsWith('file:') ? READS_OF_FOLDER : READS_OF_SERVER
  const limits = { ...AWAY, concurrency, deadlineMs: TILE_STORE_TIMEOUT_MS }
  const far = guarded(files.place, createRangeReader(files), limits)
  const room = { mostBytes: TILE_DISK_CACHE_MB * 1e6, processes: WORKERS }
  const near = TILE_DISK_CACHE_DIR && diskCached(far, TILE_DISK_CACHE_DIR, { ...DISK, ...room })
  if (TILE_DISK_CACHE_DIR) void sayIfClosed(TILE_DISK_CACHE_DIR, log)
  return {
    ranges: near || far,
    store: far.state,
    disk: () => (near ? near.state() : null),
  }
}

/** Warns: nothing else fails without the folder, so the reason would stay hidden. */
async function sayIfClosed(folder: string, log: Log): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await access(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    log.warn({ reason: formatError(error) }, 'nothing is kept in TILE_DISK_CACHE_DIR: it cannot be written')
  }
}
