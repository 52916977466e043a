import { access, constants, mkdir } from 'node:fs/promises'
import type { Config } from '#src/config.ts'
import { messageOf } from '#src/lib/promises.ts'
import { type DiskCacheState, diskCached } from './disk-cache.ts'
import { type GuardState, guarded } from './guarded.ts'
import { type FileStore, type RangeReader, rangesOf } from './store.ts'

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

/** A moment of trouble is passed over, and whoever asks afterwards is answered at once. */
const BREAKER = { failures: 5, firstPauseMs: 500, longestPauseMs: 5000 }

/** A disk near by takes a millisecond or so. */
const DISK = { deadlineMs: 250, writes: 32, pauseMs: 10_000 }

interface Log {
  warn(details: object, message: string): void
}

/** Has the files of TILE_STORE read through the cache on a disk, where there is one, and no longer than they may take. */
export function serveFiles(config: Config, files: FileStore, log: Log): ServedFiles {
  const { TILE_STORE, TILE_STORE_TIMEOUT_MS, TILE_DISK_CACHE_DIR, TILE_DISK_CACHE_MB, WORKERS } = config
  const concurrency = TILE_STORE.startsWith('file:') ? READS_OF_FOLDER : READS_OF_SERVER
  // More than are under way at a time cannot fail where none of them ends.
  const failures = Math.min(BREAKER.failures, concurrency)
  const limits = { ...BREAKER, failures, concurrency, deadlineMs: TILE_STORE_TIMEOUT_MS }
  const far = guarded(files.place, rangesOf(files), limits)
  const room = { mostBytes: TILE_DISK_CACHE_MB * 1e6, processes: WORKERS }
  const near = TILE_DISK_CACHE_DIR && diskCached(far, TILE_DISK_CACHE_DIR, { ...DISK, ...room })
  if (TILE_DISK_CACHE_DIR) void sayIfClosed(TILE_DISK_CACHE_DIR, log)
  return {
    ranges: near || far,
    store: far.state,
    disk: () => (near ? near.state() : null),
  }
}

/** Nothing fails without the folder, so that nobody would look for why nothing is kept. */
async function sayIfClosed(folder: string, log: Log): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await access(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    log.warn({ reason: messageOf(error) }, 'nothing is kept in TILE_DISK_CACHE_DIR: it cannot be written')
  }
}
