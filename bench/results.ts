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
  cold: { target: Target; seconds: number; rate: number; rateToBare: number; p99: number }[]
}

export interface AnswersResult {
  points: number
  paths: string[]
  /** Answers that differ between two paths, or from the bench's own reading of the rasters. */
  different: number
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
  /** Seconds to load the release. */
  loadedIn: number
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
  polygons?: PolygonsResult
  memory?: MemoryResult
  growth?: GrowthResult
  startUp?: StartUpResult
  embedded?: EmbeddedResult
  /** The cores that the load generator used at its fastest: it was no bottleneck below 1. */
  generatorLoad: number
  /** What makes the figures worthless: errors under load, answers that differ. */
  problems: string[]
}
