import type { ColdRow, MemoryRow, ScalingResults, WarmRow } from './results.ts'

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
 * @param cpuMs of a point
 * @param processes each has a core of its own
 */
export function mostPointsPerSecond(cpuMs: number, processes: number): number {
  return (processes * 1000) / (cpuMs * (processes > 1 ? WORKER_OVERHEAD : 1))
}

/** By Little's law: how long each of so many clients waits who ask again as soon as they are answered. */
export function closedLoopMs(connections: number, rate: number): number {
  return (1000 * connections) / rate
}

/**
 * The time that 99 of 100 points stay below, of clients that do not wait for each other: that of one client, and what
 * they wait for in a line with arrivals at random and one process (M/M/1).
 *
 * @param use the part of the process's time that is used, below 1
 */
export function p99Ms(alone: Pick<WarmRow, 'p99' | 'cpuMs'>, use: number): number {
  const waiting = use > 0.01 ? (alone.cpuMs * Math.log(100 * use)) / (1 - use) : 0
  return alone.p99 + waiting
}

/** MiB of a process whose tiles take all the room that they may: a line through two of what was measured. */
export function residentMiB(memory: MemoryRow[], tileCacheMB: number): number {
  const [least, most] = [memory.at(1), memory.at(-1)] as [MemoryRow, MemoryRow]
  const slope = (most.residentMiB - least.residentMiB) / (most.tileCacheMB - least.tileCacheMB)
  return least.residentMiB + slope * (tileCacheMB - least.tileCacheMB)
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

/** What a point that is not in memory takes where files are so far away: reads come one after the other. */
export function farColdMs(nearMs: number, delayMs: number, reads: number): number {
  return nearMs + reads * delayMs
}

/** A measurement of points that were not in memory. */
export function coldOf({ cold }: ScalingResults, store: ColdRow['store'], connections: number): ColdRow {
  const found = cold.find((row) => row.store === store && row.connections === connections)
  if (!found) throw new Error(`points of ${store} over ${connections} connections were not measured`)
  return found
}

export function warmOf({ warm }: ScalingResults, connections: number): WarmRow {
  const found = warm.find((row) => row.connections === connections)
  if (!found) throw new Error(`points over ${connections} connections were not measured`)
  return found
}
