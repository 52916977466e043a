import type { BenchPoints, ColdRow, MemoryRow, ScalingResults } from './results.ts'

/**
 * What a point costs more where several processes share a port: the primary, and caches of the processor. Measured with
 * two workers on two cores (docs/operations.md, "All cores"); assumed of more.
 */
export const WORKER_OVERHEAD = 1.12

/** So much of what there is may be used: the rest is for peaks, publications and what fails. */
export const PLANNED_USE = 0.5

/**
 * Points a second, of tiles in memory, that processes answer when they do nothing else: they share nothing, so their
 * rates add up (Amdahl's serial part is the primary alone, a hundredth).
 *
 * @param rateOfOne what one process answers
 * @param processes each has a core of its own
 */
export function mostPointsPerSecond(rateOfOne: number, processes: number): number {
  return (processes * rateOfOne) / (processes > 1 ? WORKER_OVERHEAD : 1)
}

/** By Little's law: how long each of so many clients waits who ask again as soon as they are answered. */
export function closedLoopMs(connections: number, rate: number): number {
  return (1000 * connections) / rate
}

/**
 * The time that 99 of 100 points stay below, of clients that do not wait for each other: that of one client, and what
 * they wait for in a line with arrivals at random and one process (M/M/1), each as long as the median of one client.
 *
 * @param alone of one client
 * @param use the part of the process's time that is used, below 1
 */
export function p99Ms({ p50, p99 }: Pick<BenchPoints, 'p50' | 'p99'>, use: number): number {
  const waiting = use > 0.01 ? (p50 * Math.log(100 * use)) / (1 - use) : 0
  return p99 + waiting
}

/** MiB of a process whose tiles take all the room that they may: what it takes without any, and that room. */
export function residentMiB(memory: MemoryRow[], tileCacheMB: number): number {
  const without = memory.find((row) => row.tileCacheMB === 0)
  if (!without) throw new Error('the memory of a process without tiles was not measured')
  return without.residentMiB + (tileCacheMB * 1e6) / 2 ** 20
}

/** Bytes that a tile takes in memory: four for each pixel and layer, and 256 beside them (tile-cache.ts). */
export function memoryBytesOfTile(layers: number): number {
  return 16 * 16 * layers * 4 + 256
}

/** So many of the first places count one by one; of the others, those between two powers count together. */
const SINGLE_PLACES = 1000
const STEP = 1.02

/** Places by Zipf's law with exponent 1, some of them together: how many, and how likely each is. */
function zipfGroups(places: number): { count: number; likelihood: number }[] {
  const groups: { count: number; likelihood: number }[] = []
  for (let from = 1; from <= places; ) {
    const to = from <= SINGLE_PLACES ? from + 1 : Math.min(places + 1, Math.ceil(from * STEP))
    const sum = to - from === 1 ? 1 / from : Math.log((to - 0.5) / (from - 0.5))
    groups.push({ count: to - from, likelihood: sum / (to - from) })
    from = to
  }
  const total = groups.reduce((sum, { count, likelihood }) => sum + count * likelihood, 0)
  return groups.map(({ count, likelihood }) => ({ count, likelihood: likelihood / total }))
}

/**
 * The part of look-ups that find their tile in memory, where tiles are asked for by Zipf's law and the one that was
 * asked for longest ago makes room (Che's approximation of such a cache).
 *
 * @param places tiles that are asked for at all
 * @param room tiles that there is room for
 */
export function hitRatio(places: number, room: number): number {
  if (room >= places) return 1
  if (room < 1) return 0
  const groups = zipfGroups(places)
  const kept = (time: number) =>
    groups.reduce((sum, { count, likelihood }) => sum + count * -Math.expm1(-likelihood * time), 0)
  let [low, high] = [0, 1]
  while (kept(high) < room) high *= 2
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2
    if (kept(middle) < room) low = middle
    else high = middle
  }
  return groups.reduce(
    (sum, { count, likelihood }) => sum + count * likelihood * -Math.expm1(-likelihood * high),
    0,
  )
}

/** Blocks that a granule has at most: its header is read once for all of them. */
export const BLOCKS_OF_GRANULE = 16

/** Ranges that are read for a point, where each block is asked for once and headers stay in memory. */
export function readsOfEachBlock(): number {
  return 1 + 1 / BLOCKS_OF_GRANULE
}

/** What a point that is not in memory takes where files are so far away: reads come one after the other. */
export function farColdMs(nearMs: number, delayMs: number, reads: number): number {
  return nearMs + reads * delayMs
}

/**
 * The time that 99 of 100 cold points of one client stay below where tiles are in files near by: PostgreSQL is asked as
 * well, for the name of the granule, and what the service computes is more.
 */
export function filesP99Ms(results: ScalingResults): number {
  const [postgis, files] = [coldOf(results, 'postgis', 1), coldOf(results, 'files', 1)]
  return benchPointsOf(results, 'no-cache', 1).p99 + Math.max(0, files.serviceCpuMs - postgis.serviceCpuMs)
}

/** A measurement of points that were not in memory. */
export function coldOf({ cold }: ScalingResults, store: ColdRow['store'], connections: number): ColdRow {
  const found = cold.find((row) => row.store === store && row.connections === connections)
  if (!found) throw new Error(`points of ${store} over ${connections} connections were not measured`)
  return found
}

/** What the bench has measured of one process. */
export function benchPointsOf(
  { bench }: Pick<ScalingResults, 'bench'>,
  target: BenchPoints['target'],
  connections: number,
): BenchPoints {
  const found = bench.points.find((row) => row.target === target && row.connections === connections)
  if (!found) throw new Error(`points (${target}) over ${connections} connections were not measured`)
  return found
}
