import type { Compared, PointsResult, Results, Spread, Target } from './results.ts'

/** What the service must reach, and whether it does. */
export interface Verdict {
  what: string
  /** Such as "at least 0.75" */
  limit: string
  measured: string
  pass: boolean
}

/** The place in the memory of a process for tiles, and beside it, in MiB. */
const CACHE_MIB = 256
const BESIDE_CACHE_MIB = 250

/** Holds what was measured against the limits; what was not measured has no verdict. */
export function judge({ points, answers, batch, polygons, memory, growth, embedded }: Results): Verdict[] {
  const verdicts: Verdict[] = []
  const add = (
    what: string,
    kind: 'at least' | 'at most' | 'under',
    limit: number,
    measured: number,
    unit = '',
  ) => {
    const pass =
      kind === 'at least' ? measured >= limit : kind === 'at most' ? measured <= limit : measured < limit
    verdicts.push({
      what,
      limit: `${kind} ${figure(limit)}${unit}`,
      measured: `${figure(measured)}${unit}`,
      pass,
    })
  }
  if (points) {
    const memory = cellOf(points, 'memory', 'uniform', 64)
    const noCache = cellOf(points, 'no-cache', 'uniform', 64)
    add('points/s of the bare route, tiles in memory', 'at least', 0.75, memory.rateToBare)
    add('points/s of the bare route, TILE_CACHE_MB=0', 'at least', 0.35, noCache.rateToBare)
    add(
      'points/s of one query a request over the table of raster2pgsql, tiles in memory',
      'at least',
      5,
      memory.rateToOneQuery ?? Number.NaN,
    )
    add('p99 of the bare route, tiles in memory', 'under', 5, memory.p99ToBare)
  }
  if (batch) {
    const row = batch.rows.find(
      ({ form, target, coding }) =>
        form === 'application/x-ndjson' && target === 'memory' && coding === 'identity',
    )
    add(
      `points/s of ${figure(batch.points)} points as NDJSON`,
      'at least',
      60_000,
      row?.pointsPerSecond ?? Number.NaN,
    )
  }
  if (polygons) {
    const { region, field, zone, regionCold, regionWarm, timesFasterThanClip } = polygons
    add('a field of 1 ha', 'at most', 15, field, ' ms')
    add('the median zone', 'at most', 250, zone, ' ms')
    add(`${region}, asked for the first time`, 'at most', 1500, regionCold, ' ms')
    add(`${region}, asked for again`, 'at most', 15, regionWarm, ' ms')
    add(`${region}, times faster than ST_Clip`, 'at least', 5, timesFasterThanClip)
  }
  if (growth) {
    const last = growth.rows.filter(({ tiles }) => tiles === Math.max(...growth.rows.map((row) => row.tiles)))
    const most = Math.max(...last.map(({ growth }) => growth))
    add('p50 with 100 releases and 10 times the tiles', 'at most', 1.3, most, ' times')
  }
  if (embedded) {
    const cell = embedded.cells.find(({ connections }) => connections === 16)
    add(
      'points/s of the bare route, embedded, 16 connections',
      'at least',
      0.5,
      cell?.rateToBare ?? Number.NaN,
    )
  }
  if (memory) {
    const most = Math.max(memory.full, memory.peak ?? 0)
    add('memory with the cache full', 'under', CACHE_MIB + BESIDE_CACHE_MIB, most, ' MiB')
  }
  const compared = [answers, batch, embedded?.answers].filter((result) => result !== undefined)
  if (compared.length > 0) {
    const different = compared.reduce((sum, result) => sum + result.different, 0)
    add('answers that differ between the paths', 'at most', 0, different)
  }
  return verdicts
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
