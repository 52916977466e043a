import type { Machine } from '../machine.ts'

/**
 * What rasters hold: numbers with all digits of a Float32, the same in steps of a tenth as 16-bit integers, and these
 * where fields are, and nodata elsewhere.
 */
export const CONTENTS = ['float32', 'int16', 'masked'] as const
export type Content = (typeof CONTENTS)[number]

export const STORES = ['postgis', 'files'] as const
export type Store = (typeof STORES)[number]

/** One release that was loaded into an empty database. */
export interface LoadRow {
  store: Store
  /** Or rasters that somebody has published. */
  content: Content | 'published'
  layers: number
  /** Of the grid, each once, however many layers there are. */
  pixels: number
  /** Of these, those with a value in the layer that has most. */
  values: number
  /** With any value: of 16 x 16 pixels. */
  tiles: number
  /** Files of 512 x 512 pixels; 0 in the store postgis. */
  granules: number
  /** What raster_tile takes, its TOAST table included, and what its primary key takes. */
  tileBytes: number
  tileIndexBytes: number
  /** tile_summary with its primary key. */
  summaryBytes: number
  /** The table granule with its indexes. */
  granuleRowBytes: number
  /** All files together, and of that their headers. */
  fileBytes: number
  headerBytes: number
  /** Of the write-ahead log, from before the load to after the publication. */
  walBytes: number
  seconds: number
  /** What the process that loads has computed, and what the database server has. */
  loaderCpuSeconds: number
  serverCpuSeconds: number
}

/** A process with tiles of one release, all of which have been asked for. */
export interface MemoryRow {
  tileCacheMB: number
  /** Tiles in memory at the end, and MiB of the process. */
  tiles: number
  residentMiB: number
  /** Places in so many tiles are asked for by Zipf's law: what part of the look-ups finds its tile. */
  places: number
  hitRatio: number
}

/** Points whose tiles are not in memory, each of another tile. */
export interface ColdRow {
  store: Store | 'web'
  /** What the far side waits before it answers; 0 for a folder and for the database. */
  delayMs: number
  connections: number
  points: number
  p50: number
  p99: number
  /** Ranges of bytes that were asked of the files, for each point; null where nobody counts them. */
  reads: number | null
  /** Milliseconds of computing for each point: of the service, and of the database server. */
  serviceCpuMs: number
  serverCpuMs: number
}

/** Points whose tiles are in memory. */
export interface WarmRow {
  connections: number
  rate: number
  p50: number
  p99: number
  /** Milliseconds of computing for each point, of the service. */
  cpuMs: number
}

/** What rows take on disk with their indexes. */
export interface RowBytes {
  account: number
  session: number
  refreshToken: number
  key: number
  usageDay: number
  granule: number
}

/** Points of one process as the bench measures them: with their tiles in memory, or each asked of PostgreSQL. */
export interface BenchPoints {
  target: 'memory' | 'no-cache'
  connections: number
  rate: number
  p50: number
  p99: number
}

/** What is taken from a full run of the bench, which has the machine for itself. */
export interface FromBench {
  at: string
  loadBefore: number
  points: BenchPoints[]
  /** Points a second of one process and of two, the load generator on a core of theirs. */
  workers: { workers: number; rate: number; rateToOne: number }[]
  /** Of a large history, with its indexes. */
  history: { items: number; gigabytes: number }
  /** MiB of a process when it has started, and with points answered from a full cache of the default size. */
  memory: { idle: number; full: number }
}

/** docs/scaling/results.json: what the model is made from and held to. */
export interface ScalingResults {
  at: string
  machine: Machine
  /** Processes that wanted to run in the minute before it began: times are worth less where others did. */
  loadBefore: number
  loads: LoadRow[]
  memory: MemoryRow[]
  /** Bytes of heap that the header of a granule takes in memory, and on disk. */
  header: { layers: number; heapBytes: number; fileBytes: number }
  warm: WarmRow[]
  cold: ColdRow[]
  rows: RowBytes
  bench: FromBench
}
