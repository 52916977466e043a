import { access, constants, mkdir } from 'node:fs/promises'
import type { Config } from '#src/config.ts'
import { StorageUnavailable } from '#src/data/failures.ts'
import type { App } from '#src/http/app.ts'
import { formatError } from '#src/lib/promises.ts'
import { diskCached } from './disk-cache.ts'
import { createGuard, type Limits } from './guard.ts'
import { openFileStore } from './open.ts'
import {
  createRangeReader,
  FileDamaged,
  FileMissing,
  type FileStore,
  type Range,
  type RangeReader,
} from './store.ts'

/** Reads from a store that may be slow or away, with a bounded wait. */
export function guarded(address: string, ranges: RangeReader, limits: Limits) {
  /** `refused` reads did not reach the store. */
  const errors = { unavailable: 0, missing: 0, damaged: 0, refused: 0 }
  let reads = 0
  let bytes = 0
  const guard = createGuard({
    ...limits,
    isFailure: isAway,
    late: () =>
      new StorageUnavailable(`the files at ${address} cannot be reached: they do not answer in time`),
    refusal: () => new NotAsked(address),
  })
  return {
    state: () => ({ isAway: guard.isAway(), reads, bytes, errors: { ...errors } }),
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
  constructor(address: string) {
    super(`the files at ${address} were not asked for: they could not be reached just now`)
  }
}

function kindOf(error: unknown) {
  if (error instanceof FileMissing) return 'missing'
  if (error instanceof FileDamaged) return 'damaged'
  return error instanceof NotAsked ? 'refused' : 'unavailable'
}

/** Whether a store has not answered: then other requests fail too. */
function isAway(error: unknown): boolean {
  return !(error instanceof StorageUnavailable && error.hasAnswered)
}

/** A folder that hangs blocks a thread for each read, of which Node has four for files and host names. */
const READS_OF_FOLDER = 2
/** More would take as long, and make a server wait. */
const READS_OF_SERVER = 32

/** A moment of trouble passes unnoticed; later requests fail at once. */
const AWAY = { failures: 5, pauseMs: 1000 }

/** A disk near by takes a millisecond or so. */
const DISK = { deadlineMs: 250, writes: 32, pauseMs: 10_000 }

interface Log {
  warn(details: object, message: string): void
}

type ServedFiles = ReturnType<typeof serveFiles>

/** Reads the files of TILE_STORE within their deadline, and through the cache on a disk. */
export function serveFiles(config: Config, files: FileStore, log: Log) {
  const { TILE_STORE, TILE_STORE_TIMEOUT_MS, TILE_DISK_CACHE_DIR, TILE_DISK_CACHE_MB, WORKERS } = config
  const concurrency = TILE_STORE.startsWith('file:') ? READS_OF_FOLDER : READS_OF_SERVER
  const limits = { ...AWAY, concurrency, deadlineMs: TILE_STORE_TIMEOUT_MS }
  const far = guarded(files.address, createRangeReader(files), limits)
  const room = { mostBytes: TILE_DISK_CACHE_MB * 1e6, processes: WORKERS }
  const near = TILE_DISK_CACHE_DIR ? diskCached(far, TILE_DISK_CACHE_DIR, { ...DISK, ...room }) : undefined
  if (TILE_DISK_CACHE_DIR) void warnIfClosed(TILE_DISK_CACHE_DIR, log)
  return { ranges: near ?? far, store: far.state, disk: () => near?.state() }
}

/** Warns: nothing else fails without the folder, so the reason would stay hidden. */
async function warnIfClosed(folder: string, log: Log): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await access(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    log.warn({ reason: formatError(error) }, 'nothing is stored in TILE_DISK_CACHE_DIR: it cannot be written')
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Null where all tiles are in the database. */
    files: ServedFiles | null
  }
}

const SERVED = new WeakMap<Config, ServedFiles>()

/** As the service of this process reads them. */
export const findServedFiles = (config: Config): ServedFiles | undefined => SERVED.get(config)

/** Decorates a service with its files, and counts their reads. */
export async function serve(app: App): Promise<void> {
  const { config } = app.database
  const store = await openFileStore(config)
  const files = store ? serveFiles(app.config, store, app.log) : null
  if (files) SERVED.set(config, files)
  app.decorate('files', files)
  observeFiles(app)
}

function observeFiles(app: App): void {
  const { files, metrics } = app
  const disk = () => files?.disk()
  const store = () => files?.store()
  metrics.observe('agro_tile_files_away', () => Number(store()?.isAway ?? false))
  metrics.observe('agro_tile_files_reads_total', () => app.tiles.files?.hits?.() ?? 0, { from: 'memory' })
  metrics.observe('agro_tile_files_reads_total', () => disk()?.hits ?? 0, { from: 'disk' })
  metrics.observe('agro_tile_files_reads_total', () => store()?.reads ?? 0, { from: 'store' })
  metrics.observe('agro_tile_files_bytes_total', () => disk()?.hitBytes ?? 0, { from: 'disk' })
  metrics.observe('agro_tile_files_bytes_total', () => store()?.bytes ?? 0, { from: 'store' })
  for (const reason of ['unavailable', 'missing', 'damaged', 'refused'] as const) {
    metrics.observe('agro_tile_files_errors_total', () => store()?.errors[reason] ?? 0, { reason })
  }
  metrics.observe('agro_tile_disk_cache_failures_total', () => disk()?.failures ?? 0)
  metrics.observe('agro_tile_disk_cache_evictions_total', () => disk()?.evictions ?? 0)
}
