import type { Cleanup } from './cleanup.ts'
import type { LoadGenerator, LoadResult, Order } from './load/generator.ts'
import type { BenchData } from './rasters/data.ts'
import { type Point, pointsIn, takePoints } from './rasters/raster.ts'
import type { Compared, Measured, Results, Spread } from './results.ts'

export const POINT_PATH = '/advisory/fertilizer/point'

/** How long and how often is measured. */
export interface Effort {
  mode: Results['mode']
  seconds: number
  rounds: number
  /** Rounds of the figures that have a limit. */
  roundsOfLimits: number
  /** How points are asked for; with a limit are those that are uniform, over 64 connections. */
  loads: { spread: Spread; connections: number[] }[]
  /** Calls with many points in each of the rounds of limits: they are short. */
  batchCalls: number
  /** How long is measured before a publication, and after it. */
  publicationSeconds: number
}

/** What the sections share. */
export interface Bench {
  cleanup: Cleanup
  effort: Effort
  /** A temporary folder, removed at the end. */
  folder: string
  data: BenchData
  places: Places
  generator: LoadGenerator
  /** The cores that the generator used at its fastest. */
  generatorLoad: number
  problems: string[]
}

/** Points to ask for; each list is prepared in the generator under its name. */
export interface Places {
  /** Points at which all layers have a value, each such point as likely as any other. */
  uniform: Point[]
  /** Some of them, to be asked for by Zipf's law. */
  zipf: Point[]
  /** Points anywhere in the extent of the rasters. */
  anywhere: Point[]
  /** A point with values in each stored tile: asked for once, they bring all tiles into memory. */
  tiles: Point[]
}

const UNIFORM_POINTS = 100_000
const ZIPF_PLACES = 20_000
/** Of so many points, one in each tile is kept. There are some 30,000 tiles. */
const CANDIDATES = 500_000
const SEED = 20_220_701

export async function choosePlaces(data: BenchData, generator: LoadGenerator): Promise<Places> {
  const [first] = data.rasters
  if (!first) throw new Error('there is no raster')
  const draw = pointsIn(first.bounds, SEED)
  const anywhere = takePoints(draw, UNIFORM_POINTS, () => true)
  const candidates = takePoints(draw, CANDIDATES, (point) =>
    data.rasters.every((raster) => raster.valueAt(point) !== undefined),
  )
  const tiles = new Map(candidates.map((point) => [first.tileAt(point), point]))
  const uniform = candidates.slice(0, UNIFORM_POINTS)
  const places = { uniform, zipf: uniform.slice(0, ZIPF_PLACES), anywhere, tiles: [...tiles.values()] }
  for (const [name, points] of Object.entries(places)) {
    await generator.prepare({ list: name, paths: [POINT_PATH], bodies: points.map(requestBody) })
  }
  return places
}

/** What an integrator would send. */
export function requestBody({ lat, lng }: Point): string {
  return JSON.stringify({ lat, lng, crop: 'wheat', country_code: 'eth' })
}

/** Where in the order of requests a round begins, so that rounds do not repeat each other. */
const GOLDEN_RATIO = 0.618_033_988_749_895

/** Loads a port for the effort's time, and notes as a problem what was not answered as it should be. */
export async function load(
  bench: Bench,
  port: number,
  task: { list: string; order: Order; connections: number; seconds?: number; round: number },
  expected: number[] = [200],
): Promise<LoadResult> {
  const { seconds = bench.effort.seconds, round, ...what } = task
  const skip = (round * GOLDEN_RATIO) % 1
  const result = await bench.generator.run({ ...what, port, seconds, skip })
  bench.generatorLoad = Math.max(bench.generatorLoad, result.generatorLoad)
  for (const [status, count] of Object.entries(result.statuses)) {
    if (!expected.includes(Number(status))) {
      bench.problems.push(`${count} answers ${status} from the list "${task.list}"`)
    }
  }
  return result
}

/** In an order that alternates: what drifts (temperature, neighbours on the machine) meets all alike. */
export const byTurns = <One>(list: One[], round: number): One[] =>
  round % 2 === 0 ? list : list.toReversed()

/** Brings every tile into the memory of a service, and lets V8 compile what is hot. */
export async function warmUp(bench: Bench, port: number): Promise<void> {
  await load(bench, port, { list: 'tiles', order: 'once', connections: 64, round: 0 })
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

export function medians(rounds: Measured[]): Measured {
  return {
    rate: median(rounds.map(({ rate }) => rate)),
    p50: median(rounds.map(({ p50 }) => p50)),
    p99: median(rounds.map(({ p99 }) => p99)),
  }
}

/** A figure of one target's rounds as part of another's in the same rounds: the median. */
export function ratio(
  rounds: LoadResult[],
  others: LoadResult[],
  of: (result: LoadResult) => number = ({ rate }) => rate,
): number {
  return median(rounds.map((round, index) => of(round) / of(others[index] as LoadResult)))
}

/** One target's rounds, beside those of the bare route and of the baseline in the same rounds. */
export function compare(rounds: LoadResult[], bare: LoadResult[], oneQuery?: LoadResult[]): Compared {
  const statuses = rounds.map(({ statuses }) => statuses)
  const total = (of: (statuses: Record<string, number>) => number) =>
    statuses.reduce((sum, some) => sum + of(some), 0)
  return {
    ...medians(rounds),
    rateToBare: ratio(rounds, bare),
    p99ToBare: ratio(rounds, bare, ({ p99 }) => p99),
    rateToOneQuery: oneQuery ? ratio(rounds, oneQuery) : null,
    rounds: rounds.length,
    answered:
      total((some) => some[200] ?? 0) /
      total((some) => Object.values(some).reduce((sum, count) => sum + count, 0)),
  }
}

/** Says what is going on, and after how long, on standard error: standard output has the tables. */
export function say(message: string): void {
  console.error(`bench: ${process.uptime().toFixed()} s: ${message}`)
}
