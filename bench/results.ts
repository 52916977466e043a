import type { Machine } from './machine.ts'

/** Points a second and latencies (milliseconds) of one target under one load: medians of the rounds. */
export interface Measured {
  rate: number
  p50: number
  p99: number
}

/** A target beside the bare route, measured by turns; ratios are medians of each round's. */
export interface Compared extends Measured {
  rateToBare: number
  p99ToBare: number
  rateToOneQuery: number | null
  rounds: number
  /** The part of the answers that were values. */
  answered: number
}

export type Target = 'bare' | 'one-query' | 'one-query-own-tiles' | 'memory' | 'no-cache'
/** Points with a value, each as likely; 20,000 places by Zipf's law; or anywhere in the rasters' extent. */
export type Spread = 'uniform' | 'zipf' | 'anywhere'

export interface PointsResult {
  cells: ({ target: Target; spread: Spread; connections: number } & Compared)[]
  /** The first seconds of a process that has just been started, at 64 connections. */
  cold: {
    target: Target
    seconds: number
    rate: number
    rateToBare: number
    /** Beside the same process warm; null where that was not measured. */
    rateToWarm: number | null
    p99: number
  }[]
}

export interface AnswersResult {
  points: number
  paths: string[]
  /** Answers that differ between two paths, or from the bench's own reading of the rasters. */
  different: number
}

/** What is called beside anonymous points, each over 64 connections, with the tiles in memory. */
export type Call =
  | 'raw'
  | 'bare'
  | 'anonymous'
  | 'key'
  | 'token'
  | 'location'
  | 'single-products'
  | 'all-products'

export interface CallsResult {
  connections: number
  /** Calls a second as parts of what the references do, medians of each round's. */
  rows: ({ call: Call; rateToRaw: number; rateToBare: number; rateToAnonymous: number } & Measured)[]
  /** What a call for all products costs, as part of a call for each of them. */
  allProductsCost: number
}

/** Services with one worker and with several, the load generator on one core alone. */
export interface WorkersResult {
  rows: ({ workers: number; rateToOne: number; generatorLoad: number } & Measured)[]
  /** Microseconds of CPU a request with a request a core under way; results of before have none. */
  costs?: { workers: number; cpu: number; cpuToOne: number }[]
}

/** Points under load before a release with other tiles is published, and from then on. */
export interface PublicationResult {
  seconds: number
  before: Measured
  after: Measured
  /** The median of each round's. */
  p99ToBefore: number
}

export interface BatchResult {
  /** In one call. */
  points: number
  rows: {
    form: 'application/x-ndjson' | 'application/json'
    target: 'memory' | 'no-cache'
    /** What the client asks for in `Accept-Encoding`. */
    coding: 'identity' | 'gzip'
    pointsPerSecond: number
  }[]
  /** Calls whose answer was not, to the byte, what the bench itself read in the rasters. */
  different: number
}

export interface PolygonsResult {
  /** Milliseconds, medians: of fields of 1 ha, and of Ethiopia's zones when they are first asked for. */
  field: number
  zones: number
  zone: number
  /** The largest region: its name, and milliseconds when it is first asked for and later. */
  region: string
  regionCold: number
  regionWarm: number
  /** Against ST_SummaryStatsAgg(ST_Clip(...)) of the same layers, both asked for the first time. */
  timesFasterThanClip: number
  /** Stars of one shape and growing area, and of one area and growing boundary. */
  shapes: { series: 'area' | 'boundary'; areaKm2: number; boundaryKm: number; ms: number }[]
}

/** Many polygons in one call, as NDJSON: milliseconds from the first byte sent to the last one received. */
export interface BulkResult {
  /** How many areas the level has. */
  areas: number
  /** Asked for the first time, of a process that has just been started, and later. */
  areasCold: number
  areasWarm: number
  /** How many fields of 1 ha, none of which was asked for before. */
  fields: number
  fieldsCold: number
}

/** A saved collection, answered as NDJSON: milliseconds from the first byte sent to the last one received. */
export interface FieldsResult {
  /** How many fields of 1 ha. */
  fields: number
  kept: number
  /** By a process that has just kept them, later, and on the next release of the grid. */
  first: number
  again: number
  next: number
  /** Of points in milliseconds, alone and while the collection is answered. */
  p99Quiet: number
  p99Beside: number
}

export interface MemoryResult {
  /** MiB of the process that answers: just started, after points at 64 connections, and with a full cache. */
  idle: number
  loaded: number
  full: number
  peak: number | null
}

export interface GrowthResult {
  /** What the answering release and the others are. */
  description: string
  rows: {
    releases: number
    tiles: number
    target: 'memory' | 'no-cache'
    connections: number
    p50: number
    /** p50 against the first row's, the median of each round's. */
    growth: number
  }[]
}

/** How large a history is that is measured. */
export interface HistorySize {
  items: number
  /** Of the account that asks. */
  itemsOfAccount: number
  /** Partitions. */
  months: number
  /** Of the items and their indexes on disk. */
  gigabytes: number
}

/** What an admin asks for. */
export const STATISTICS_OF_ALL = 'statistics of all'

/** What takes how many milliseconds with few items and with many. */
export interface HistoryResult {
  small: HistorySize
  large: HistorySize
  /** `times` is the median of each round's. */
  rows: { what: string; small: number; large: number; times: number }[]
  /** How many items statements read. */
  reads: { what: string; small: number; large: number; times: number }[]
}

/** A release of 8 layers, loaded by a process that has loaded one: medians, in seconds. */
export interface LoadsResult {
  rows: {
    target: 'server' | 'embedded'
    /** CPU of the process, which has the embedded database. */
    node: number
    /** CPU of the server's sessions. */
    database: number | null
    /** Until it is loaded. */
    seconds: number
    /** All its CPU, as part of that of a plain copy of its tiles: the median of each round's. */
    cpuToCopy: number
  }[]
  /** Seconds of `raster2pgsql | psql` of one of the layers; null where it is not installed. */
  raster2pgsql: number | null
}

export interface StartUpResult {
  /** Seconds until it listens. */
  server: number | null
  embeddedFirst: number | null
  embeddedSecond: number | null
}

export interface EmbeddedResult {
  cells: ({ connections: number } & Compared)[]
  answers: AnswersResult
  /** MiB of the process, the database included. */
  memory: number
}

export interface Results {
  at: string
  mode: 'quick' | 'full'
  machine: Machine
  /** Processes that wanted to run in the minute before it began. */
  loadBefore: number
  data: { description: string; tiles: number | null }
  points?: PointsResult
  answers?: AnswersResult
  batch?: BatchResult
  calls?: CallsResult
  workers?: WorkersResult
  publication?: PublicationResult
  polygons?: PolygonsResult
  bulk?: BulkResult
  fields?: FieldsResult
  memory?: MemoryResult
  growth?: GrowthResult
  history?: HistoryResult
  loads?: LoadsResult
  startUp?: StartUpResult
  embedded?: EmbeddedResult
  /** The cores that the load generator used at its fastest: it was no bottleneck below 1. */
  generatorLoad: number
  /** What makes the figures worthless: errors under load, answers that differ. */
  problems: string[]
}
