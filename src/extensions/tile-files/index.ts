import { counter, gauge } from '#src/http/metrics/metrics.ts'
import type { Extension } from '../extension.ts'
import { readinessSchema } from './schemas.ts'
import { settings } from './settings.ts'
import { FILES_LOCK } from './store.ts'

const auditKinds = { files_swept: 'files that no release had were removed' } as const

const metrics = {
  agro_tile_files_away: gauge('1 while TILE_STORE does not answer.', 'max'),
  agro_tile_files_reads_total: counter(
    'Reads of tile files by source: memory, disk (TILE_DISK_CACHE_DIR), store (TILE_STORE).',
  ),
  agro_tile_files_bytes_total: counter('Bytes of these reads by source: disk, store.'),
  agro_tile_files_errors_total: counter(
    'Failed reads of the store by reason: unavailable, missing, damaged, refused (not tried).',
  ),
  agro_tile_disk_cache_failures_total: counter(
    'Failures of TILE_DISK_CACHE_DIR (full, slow or damaged): the store was read instead.',
  ),
  agro_tile_disk_cache_evictions_total: counter('Files evicted from TILE_DISK_CACHE_DIR.'),
} as const

interface GranuleTable {
  coverage_id: number
  granule_row: number
  granule_column: number
  name: string
  header_bytes: number
  bytes: number
}

type FileKinds = typeof auditKinds
type FileMetrics = typeof metrics
declare module '#src/data/audit-kinds.ts' {
  interface AuditKinds extends FileKinds {}
}
declare module '#src/data/tables.ts' {
  interface Tables {
    granule: GranuleTable
  }
}
declare module '#src/http/metrics/metrics.ts' {
  interface MetricDefinitions extends FileMetrics {}
}

/** Tiles of releases in files: in a folder, on a web server or in a bucket. Migration 0035 of the core has their table. */
export const tileFiles: Extension = {
  name: 'tile-files',
  settings,
  auditKinds,
  metrics,
  tileStores: {
    files: {
      name: 'the files of TILE_STORE',
      batcher: 'granules',
      lock: FILES_LOCK,
      open: async (source) => (await import('./file-tiles.ts')).openFileTiles(source),
      takesLoads: ({ TILE_STORE }) => TILE_STORE !== 'postgis',
      createWriter: async (...of) => (await import('./file-tiles.ts')).createFileWriter(...of),
      noteExport: async (database) => (await import('./notices.ts')).noteExport(database),
      noteImport: async (database) => (await import('./notices.ts')).noteImport(database),
    },
  },
  decorate: async (app) => (await import('./serving.ts')).serve(app),
  readiness: {
    schema: readinessSchema,
    // That files are away is no reason to send requests elsewhere: all processes read the same.
    read: ({ files }) => (files ? { files: { state: files.store().isAway ? 'unavailable' : 'used' } } : {}),
  },
  commands: {
    'releases move': async () => (await import('./commands.ts')).moveCommand,
    'releases sweep': async () => (await import('./commands.ts')).sweepCommand,
  },
  checks: async () => (await import('./checks.ts')).checks,
}
