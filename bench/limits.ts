import {
  type Compared,
  type PointsResult,
  type Results,
  type Spread,
  STATISTICS_OF_ALL,
  type Target,
} from './results.ts'

/** What the service does, beside what it must reach and what it is meant to reach. */
export interface Verdict {
  what: string
  /** Such as "at least 0.75": what is worse than this is a step back, and fails a strict run. */
  limit: string | null
  /** What is wanted, where that is more than what must be; it fails nothing. */
  goal: string | null
  measured: string
  verdict: 'met' | 'goal not met' | 'MISSED'
}

interface Bound {
  kind: 'at least' | 'at most' | 'under'
  value: number
}

/** One figure; NaN where it should have been measured and was not. */
interface Line {
  what: string
  measured: number
  unit?: string
  limit?: Bound
  goal?: Bound
}

/** The place in the memory of a process for tiles, and beside it, in MiB. */
const CACHE_MIB = 256
const BESIDE_CACHE_MIB = 250

/** What each further worker may add to the CPU of a request, as a part of it. */
const COST_A_WORKER = 0.05

const atLeast = (value: number): Bound => ({ kind: 'at least', value })
const atMost = (value: number): Bound => ({ kind: 'at most', value })
const under = (value: number): Bound => ({ kind: 'under', value })

/** Holds what was measured against limits and goals; what was not measured has no verdict. */
export function judge(results: Results): Verdict[] {
  const lines = [
    pointLines,
    callLines,
    processLines,
    manyLines,
    polygonLines,
    growthLines,
    historyLines,
    loadLines,
    otherLines,
  ]
  return lines.flatMap((linesOf) => linesOf(results)).map(verdictOf)
}

function verdictOf({ what, measured, unit = '', limit, goal }: Line): Verdict {
  const text = (bound: Bound | undefined) => (bound ? `${bound.kind} ${figure(bound.value)}${unit}` : null)
  const missed = limit !== undefined && !keeps(limit, measured)
  const short = goal !== undefined && !keeps(goal, measured)
  return {
    what,
    limit: text(limit),
    goal: text(goal),
    measured: `${figure(measured)}${unit}`,
    verdict: missed ? 'MISSED' : short ? 'goal not met' : 'met',
  }
}

function keeps({ kind, value }: Bound, measured: number): boolean {
  if (kind === 'at least') return measured >= value
  return kind === 'at most' ? measured <= value : measured < value
}

function line(what: string, measured: number | undefined, rest: Omit<Line, 'what' | 'measured'>): Line {
  return { what, measured: measured ?? Number.NaN, ...rest }
}

function pointLines({ points }: Results): Line[] {
  if (!points) return []
  const memory = cellOf(points, 'memory', 'uniform', 64)
  const noCache = cellOf(points, 'no-cache', 'uniform', 64)
  const cold = points.cold.find(({ target }) => target === 'memory')
  const first = `points/s in the first ${cold?.seconds} seconds of a ready process, of the same process warm`
  return [
    line('points/s of the bare route, tiles in memory', memory.rateToBare, {
      limit: atLeast(0.75),
      goal: atLeast(0.85),
    }),
    line('points/s of the bare route, TILE_CACHE_MB=0', noCache.rateToBare, {
      limit: atLeast(0.4),
      goal: atLeast(0.45),
    }),
    line(
      'points/s of one query a request over the table of raster2pgsql, tiles in memory',
      memory.rateToOneQuery ?? undefined,
      { limit: atLeast(5) },
    ),
    line('p99 of the bare route, tiles in memory', memory.p99ToBare, { limit: under(5) }),
    ...(cold?.rateToWarm == null ? [] : [line(first, cold.rateToWarm, { goal: atLeast(0.6) })]),
  ]
}

function callLines({ calls }: Results): Line[] {
  if (!calls) return []
  const partOf = (wanted: string) => calls.rows.find(({ call }) => call === wanted)?.rateToAnonymous
  const kept = 'points/s with a key, kept in the history, of anonymous ones'
  const location = 'calls/s of /validate_location, of anonymous points'
  const all = 'cost of a call for all products, of a call for each'
  return [
    line(kept, partOf('key'), { goal: atLeast(0.6) }),
    line(location, partOf('location'), { goal: atLeast(0.5) }),
    line(all, calls.allProductsCost, { goal: atMost(0.6) }),
  ]
}

function processLines({ workers, publication }: Results): Line[] {
  const lines: Line[] = []
  const two = workers?.rows.find((row) => row.workers === 2)
  if (workers) lines.push(line('points/s of two workers, of one', two?.rateToOne, { goal: atLeast(1.2) }))
  for (const { workers: count, cpuToOne } of workers?.costs?.slice(1) ?? []) {
    const limit = atMost(1 + COST_A_WORKER * (count - 1))
    lines.push(line(`CPU a point with ${count} workers, of one`, cpuToOne, { unit: ' times', limit }))
  }
  if (publication) {
    const what = `p99 in the ${publication.seconds} seconds after a publication, of before`
    lines.push(line(what, publication.p99ToBefore, { unit: ' times', goal: atMost(2) }))
  }
  return lines
}

function manyLines({ batch }: Results): Line[] {
  if (!batch) return []
  const row = batch.rows.find(
    ({ form, target, coding }) =>
      form === 'application/x-ndjson' && target === 'memory' && coding === 'identity',
  )
  const bounds = { limit: atLeast(60_000), goal: atLeast(150_000) }
  return [line(`points/s of ${figure(batch.points)} points as NDJSON`, row?.pointsPerSecond, bounds)]
}

function polygonLines({ polygons, bulk, fields }: Results): Line[] {
  const lines: Line[] = []
  const add = (what: string, measured: number, bounds: Pick<Line, 'limit' | 'goal'>, unit = ' ms') =>
    lines.push({ what, measured, unit, ...bounds })
  if (polygons) {
    const { region, field, zone, regionCold, regionWarm, timesFasterThanClip } = polygons
    add('a field of 1 ha', field, { limit: atMost(15) })
    add('the median zone', zone, { limit: atMost(250) })
    add(`${region}, asked for the first time`, regionCold, { limit: atMost(1500) })
    add(`${region}, asked for again`, regionWarm, { limit: atMost(15) })
    add(`${region}, times faster than ST_Clip`, timesFasterThanClip, { limit: atLeast(5) }, '')
  }
  if (bulk) {
    add(`${bulk.areas} zones in one call, for the first time`, bulk.areasCold, { goal: atMost(2000) })
    add(`${bulk.areas} zones in one call, again`, bulk.areasWarm, { goal: atMost(200) })
  }
  if (fields) {
    add(`${figure(fields.fields)} saved fields on the next release`, fields.next, { goal: atMost(10_000) })
    add('p99 of points beside them', fields.p99Beside / fields.p99Quiet, { goal: atMost(2) }, ' times')
  }
  return lines
}

function growthLines({ growth }: Results): Line[] {
  if (!growth) return []
  const last = growth.rows.filter(({ tiles }) => tiles === Math.max(...growth.rows.map((row) => row.tiles)))
  const most = Math.max(...last.map(({ growth }) => growth))
  const what = 'p50 with 100 releases and 10 times the tiles'
  return [{ what, measured: most, unit: ' times', limit: atMost(1.3) }]
}

/** Part of the names of all figures of histories. */
export const OF_HISTORIES = ' items in histories, of '

function historyLines({ history }: Results): Line[] {
  if (!history) return []
  const of = `with ${figure(history.large.items)}${OF_HISTORIES}${figure(history.small.items)}`
  const most = Math.max(...history.reads.map(({ times }) => times))
  const rows = [...history.rows, { what: 'most items that a statement reads', times: most }]
  return rows.map(({ what, times }) => ({
    what: `${what}, ${of}`,
    measured: times,
    unit: ' times',
    // Everybody's counts by day are added up, and there are as many as everybody has asked for.
    [what === STATISTICS_OF_ALL ? 'goal' : 'limit']: atMost(1.5),
  }))
}

/** Of the CPU of a copy: 1.32 and 0.74 were measured, so a load of twice the work misses it. */
const LOAD_TO_COPY = { server: 2, embedded: 1.2 }

function loadLines({ loads }: Results): Line[] {
  const lines = (loads?.rows ?? []).map(({ target, cpuToCopy }) => {
    const what = `CPU of a load, ${target}, of that of a plain copy of its tiles`
    return line(what, cpuToCopy, { unit: ' times', limit: atMost(LOAD_TO_COPY[target]) })
  })
  const seconds = loads?.rows.find(({ target }) => target === 'server')?.seconds
  if (loads?.raster2pgsql == null || seconds === undefined) return lines
  const what = 'time of a load of 8 layers, server, of raster2pgsql of one'
  return [...lines, line(what, seconds / loads.raster2pgsql, { limit: atMost(1) })]
}

function otherLines({ answers, batch, memory, embedded }: Results): Line[] {
  const lines: Line[] = []
  if (embedded) {
    const cell = embedded.cells.find(({ connections }) => connections === 16)
    const what = 'points/s of the bare route, embedded, 16 connections'
    lines.push({ what, measured: cell?.rateToBare ?? Number.NaN, limit: atLeast(0.5) })
  }
  if (memory) {
    const measured = Math.max(memory.full, memory.peak ?? 0)
    const limit = under(CACHE_MIB + BESIDE_CACHE_MIB)
    lines.push({ what: 'memory with the cache full', measured, unit: ' MiB', limit })
  }
  const compared = [answers, batch, embedded?.answers].filter((result) => result !== undefined)
  if (compared.length > 0) {
    const measured = compared.reduce((sum, result) => sum + result.different, 0)
    lines.push({ what: 'answers that differ between the paths', measured, limit: atMost(0) })
  }
  return lines
}

export function cellOf(points: PointsResult, target: Target, spread: Spread, connections: number): Compared {
  const found = points.cells.find(
    (cell) => cell.target === target && cell.spread === spread && cell.connections === connections,
  )
  if (!found) throw new Error(`${target}, ${spread}, ${connections} connections: not measured`)
  return found
}

/** A number with three digits that count, and with commas where it is large. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return 'none'
  const rounded = Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
  return rounded.toLocaleString('en', { maximumFractionDigits: 6 })
}
