import { access, constants, mkdir } from 'node:fs/promises'
import type { Config } from '#src/config.ts'
import { formatError } from '#src/lib/promises.ts'
import { doublingPauses, pauseAfter } from '#src/lib/retry.ts'
import { createReadSlots, type DiskCacheState, diskCached } from './disk-cache.ts'
import {
  createRangeReader,
  FileDamaged,
  FileMissing,
  type FileStore,
  type Range,
  type RangeReader,
  StorageUnavailable,
} from './store.ts'

/** The failures that open the breaker, and for how long. */
interface BreakerLimits {
  /** Failures one after the other, with no success between them. */
  failures: number
  /** After so long one is let through to see whether it is well again; twice as long each time that it is not. */
  firstPauseMs: number
  longestPauseMs: number
}

/** What something ends with that a breaker has let through: `left` where nothing was learned of whether it works. */
type Outcome = 'worked' | 'failed' | 'left'

/** Keeps everybody from waiting for what does not answer: one at a time finds out whether it does again. */
interface Breaker {
  /** Lets one through, who then says what came of it; null where there is no use in trying. */
  enter(): ((outcome: Outcome) => void) | null
  isOpen(): boolean
}

/** @param now a clock in milliseconds */
export function createBreaker(
  { failures: most, firstPauseMs, longestPauseMs }: BreakerLimits,
  now: () => number = () => performance.now(),
): Breaker {
  const pauses = doublingPauses(firstPauseMs, longestPauseMs)
  let failures = 0
  let openings = 0
  let closedUntil = 0
  let probe: object | undefined

  const isOpen = () => failures >= most

  function leave(self: object, outcome: Outcome): void {
    const wasProbe = probe === self
    if (wasProbe) probe = undefined
    if (outcome === 'worked') {
      failures = 0
      openings = 0
    } else if (outcome === 'failed') {
      failures++
      // Requests from before it opened come too late to make the pause longer.
      if (failures === most || wasProbe) {
        openings++
        closedUntil = now() + pauseAfter(pauses, openings)
      }
    }
  }

  return {
    isOpen,
    enter() {
      const self = {}
      if (isOpen()) {
        if (probe || now() < closedUntil) return null
        probe = self
      }
      return (outcome) => leave(self, outcome)
    },
  }
}

interface GuardLimits extends BreakerLimits {
  /** How long a read may take, with the wait for its turn. */
  deadlineMs: number
  /** Reads that may be under way at the same time. */
  concurrency: number
}

/** What was read of a store, and whether it is away. */
interface GuardState {
  isAway: boolean
  reads: number
  bytes: number
  /** How many failed, by why: `refused` are those that the store was not asked for. */
  errors: Record<'unavailable' | 'missing' | 'damaged' | 'refused', number>
}

/** Reads from a store that may be slow or away, with a bounded wait. */
interface GuardedRanges extends RangeReader {
  state(): GuardState
}

/**
 * Has only so many read at a time, each no longer than a deadline. Where some have failed one after the other, all others
 * fail at once, but for one now and then, which finds out whether the store is back.
 *
 * @param place of the store, for people
 */
export function guarded(
  place: string,
  ranges: RangeReader,
  limits: GuardLimits,
  now?: () => number,
): GuardedRanges {
  const breaker = createBreaker(limits, now)
  const places = createReadSlots(limits.concurrency)
  const errors: GuardState['errors'] = { unavailable: 0, missing: 0, damaged: 0, refused: 0 }
  let reads = 0
  let bytes = 0
  let stuck = 0
  const refusal = () => new NotAsked(place)

  /**
   * Reads once there is a place for it, unless it has become clear meanwhile that there is no use in it. What the store
   * is taken for goes by the time that it had itself: who has waited long for a place leaves soon, and learns nothing.
   */
  async function readInTurn(
    range: Range,
    late: AbortSignal,
    isProbe: boolean,
    ends: (outcome: Outcome) => void,
  ): Promise<Buffer> {
    const hasToWait = places.areTaken()
    try {
      await places.take(late)
    } catch (error) {
      // Where all places are held by reads that are too late, there is none for who would find out.
      ends(stuck >= limits.concurrency ? 'failed' : 'left')
      throw error
    }
    if (breaker.isOpen() && !isProbe) {
      places.leave()
      ends('left')
      throw refusal()
    }
    reads++
    const ownLate = hasToWait ? deadlineOf(place, limits.deadlineMs) : late
    const reading = ranges.read(range, ownLate)
    const tooLate = failingAt(ownLate)
    void tooLate.catch(() => {
      stuck++
      void reading.catch(() => {}).then(() => stuck--)
    })
    const read = Promise.race([reading, tooLate])
    const known = read.then(
      () => ends('worked'),
      (error) => ends(isAway(error) ? 'failed' : 'worked'),
    )
    // A read has the place until it ends, and not only until its caller leaves: a disk that hangs cannot be left.
    void known.then(() => reading).then(places.leave, places.leave)
    return hasToWait ? Promise.race([read, failingAt(late)]) : read
  }

  return {
    state: () => ({ isAway: breaker.isOpen(), reads, bytes, errors: { ...errors } }),
    async read(range) {
      const leave = breaker.enter()
      if (!leave) {
        errors.refused++
        throw refusal()
      }
      const ends = (outcome: Outcome) => {
        leave(outcome)
        if (breaker.isOpen()) places.refuse(refusal)
      }
      try {
        const late = deadlineOf(place, limits.deadlineMs)
        const read = await readInTurn(range, late, breaker.isOpen(), ends)
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

/** A signal that says after a while that the store is too late. */
function deadlineOf(place: string, milliseconds: number): AbortSignal {
  const deadline = new AbortController()
  const late = new StorageUnavailable(`the files at ${place} cannot be reached: they do not answer in time`)
  setTimeout(() => deadline.abort(late), milliseconds).unref()
  return deadline.signal
}

function failingAt(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
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
