import { figure } from '../limits.ts'
import type { Table } from '../report/table.ts'
import { coefficientsOf } from './coefficients.ts'
import { benchPointsOf, memoryBytesOfTile, mostPointsPerSecond, PLANNED_USE } from './requests-model.ts'
import type { ScalingResults } from './results.ts'
import { bytesText, countText } from './units.ts'

/** A night, in which a release is to be loaded. */
const NIGHT_SECONDS = 8 * 3600

/** Headers of granules that a process has in memory (src/tiles/granule-reader.ts), each of 512 x 512 pixels. */
const HEADERS_IN_MEMORY = 4096
const GRANULE_PIXELS = 512 ** 2

/** What the leader keeps for a replica that is away (max_slot_wal_keep_size in ops/cluster/patroni.yml). */
const KEPT_LOG_BYTES = 1e9

/** The most that a relation of PostgreSQL has, its TOAST table for itself (PostgreSQL's documentation, appendix K). */
const RELATION_BYTES = 32 * 2 ** 40

/** Where each stage ends, in numbers. */
export interface Limits {
  /** Points a second of one process and of 16, a half of what they answer at most. */
  pointsOfOne: number
  pointsOfSixteen: number
  /** Tiles that the default cache has room for, and pixels in them. */
  tilesInMemory: number
  pixelsInMemory: number
  /** Pixels of Float32 with eight layers whose load is computed in a night, by store. */
  pixelsOfNight: { postgis: number; files: number }
  /** Pixels whose load writes as much log as a replica may miss. */
  pixelsOfKeptLog: { postgis: number; files: number }
  pixelsOfHeaders: number
  /** Pixels whose tiles are all that PostgreSQL has room for in one table. */
  pixelsOfTable: number
}

export function limitsOf(results: ScalingResults): Limits {
  const { float32 } = coefficientsOf(results)
  const { rate } = benchPointsOf(results, 'memory', 64)
  const tilesInMemory = 256e6 / memoryBytesOfTile(8)
  const { coreSecondsPerPixel: seconds, walBytesPerPixel: log } = float32
  return {
    pointsOfOne: PLANNED_USE * mostPointsPerSecond(rate, 1),
    pointsOfSixteen: PLANNED_USE * mostPointsPerSecond(rate, 16),
    tilesInMemory,
    pixelsInMemory: tilesInMemory * 256,
    pixelsOfNight: { postgis: NIGHT_SECONDS / seconds.postgis, files: NIGHT_SECONDS / seconds.files },
    pixelsOfKeptLog: { postgis: KEPT_LOG_BYTES / log.postgis, files: KEPT_LOG_BYTES / log.files },
    pixelsOfHeaders: HEADERS_IN_MEMORY * GRANULE_PIXELS,
    pixelsOfTable: RELATION_BYTES / (float32.tilesPerPixel * float32.tileBytesPerTile),
  }
}

/** Which stage an operator is in, what ends it, and what is done then. */
export function stagesTable(results: ScalingResults): Table {
  const limits = limitsOf(results)
  const memory = (processes: number) => bytesText(processes * results.bench.memory.full * 2 ** 20)
  return {
    title: 'Stages',
    head: ['', 'stage', 'what ends it', 'what says so', 'next'],
    rows: [
      [
        '1',
        'One process with the embedded database: `npm start`.',
        'A second process, or a database that may not be copied while it is stopped.',
        '`npm run agro -- doctor`',
        'PostgreSQL: `agro export`, `agro import` ([how](operations.md#move-between-the-embedded-database-and-a-server)).',
      ],
      [
        '2',
        'One process, one PostgreSQL: `DATABASE_URL`.',
        `CPU: ${figure(limits.pointsOfOne)} points/s (half of what one process answers, modelled). Memory: more than ${figure(limits.tilesInMemory)} tiles, ${countText(limits.pixelsInMemory)} pixels with eight layers, are asked for.`,
        'the alerts `AgroBusy` and `AgroTilesMakeRoom`',
        '`WORKERS=auto` ([all cores](operations.md#all-cores)); a larger `TILE_CACHE_MB`.',
      ],
      [
        '3',
        'One machine, all its cores, one PostgreSQL.',
        `CPU: ${figure(limits.pointsOfSixteen)} points/s with 16 cores (modelled). Memory: 16 processes take ${memory(16)} (modelled). Or it may not stop when a machine does.`,
        '`AgroBusy`, `AgroDown`',
        'Several machines behind a balancer, PostgreSQL of three members ([a cluster](operations.md#a-cluster); `ops/cluster/up` to try it), `DATABASE_READ_URL`.',
      ],
      [
        '4',
        'Several machines, three members, tiles in PostgreSQL.',
        `Log: a load of more than ${countText(limits.pixelsOfKeptLog.postgis)} pixels with eight layers writes 1 GB, which is all that a replica may miss. Load: ${countText(limits.pixelsOfNight.postgis)} pixels are 8 hours of computing. Disk: each member has all of it. Table: PostgreSQL ends at 32 TiB, ${countText(limits.pixelsOfTable)} pixels.`,
        "`select pg_size_pretty(pg_total_relation_size('raster_tile'))`; how far replicas are behind in `doctor`",
        'Tiles in files: `TILE_STORE`, then `agro releases move CODE --to files` ([how](operations.md#tiles-in-files)).',
      ],
      [
        '5',
        'The same with tiles in files.',
        `Load: ${countText(limits.pixelsOfNight.files)} pixels are 8 hours of computing. Headers: beyond ${countText(limits.pixelsOfHeaders)} pixels, a process cannot keep those of all granules, and cold points read twice.`,
        'how long `agro ingest` takes; p99 of points',
        'Fewer bytes: 16-bit integers with `scale` in the manifest, nodata where nothing is grown; a release for each country, several loaded at a time.',
      ],
      [
        '6',
        'A continent at 30 m.',
        'Summaries, which stay in PostgreSQL, and the time to load. See below.',
        'the table of one release below',
        'More machines that load; nothing here was measured.',
      ],
    ],
  }
}
