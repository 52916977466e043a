import { figure, judge, OF_HISTORIES } from '../limits.ts'
import type { Call, Results, Spread, Target } from '../results.ts'

/** A table of the report, for the terminal and for the page. */
export interface Table {
  title: string
  head: string[]
  rows: string[][]
}

const table = (title: string, head: string[], rows: string[][]): Table => ({ title, head, rows })

const TARGET_NAMES: Record<Target, string> = {
  bare: 'bare Fastify route',
  'one-query': 'one query a request',
  'one-query-own-tiles': 'one query, the service’s tiles',
  memory: 'service, tiles in memory',
  'no-cache': 'service, TILE_CACHE_MB=0',
}

const SPREAD_NAMES: Record<Spread, string> = {
  uniform: 'uniform',
  zipf: 'Zipf',
  anywhere: 'anywhere',
}

/** Limits of histories that are met are left out: their table has the same figures. */
export function limitsTable(results: Results): Table {
  const rows = judge(results)
    .filter(({ what, verdict }) => verdict !== 'met' || !what.includes(OF_HISTORIES))
    .map(({ what, limit, goal, measured, verdict }) => [
      what,
      [limit, goal && `goal ${goal}`].filter(Boolean).join('; '),
      measured,
      verdict === 'met' ? '' : verdict,
    ])
  return table('Limits', ['figure', 'limit; goal', 'measured', ''], rows)
}

export function pointsTables({ points }: Results): Table[] {
  if (!points) return []
  const { headings, rows } = pivot(points.cells, {
    labels: ({ spread, connections }) => [SPREAD_NAMES[spread], `${connections}`],
    heading: ({ target }) => TARGET_NAMES[target],
    cell: ({ rate, p99 }) => `${figure(rate)}, ${figure(p99)}`,
  })
  const ratio = (value: number | null | undefined) => (value == null ? '' : figure(value))
  const cold = points.cold.map(({ target, rate, p99, rateToBare, rateToWarm }) => [
    TARGET_NAMES[target],
    ...[rate, p99, rateToBare].map(figure),
    ratio(rateToWarm),
  ])
  const first = `The first ${points.cold[0]?.seconds} seconds of a new process, 64 connections`
  return [
    table('Points a second, and p99 in ms', ['points', 'connections', ...headings], rows.map(cellsOf)),
    table(first, ['target', 'points/s', 'p99 ms', 'of bare', 'of warm'], cold),
  ]
}

export const CALL_NAMES: Record<Call, string> = {
  raw: 'raw node:http',
  bare: 'bare Fastify route',
  anonymous: 'a point, anonymous',
  key: 'a point, with a key',
  token: 'a point, with a token',
  location: 'POST /validate_location',
  'single-products': 'a point, each product in turn',
  'all-products': 'POST /advisory/point, all products',
}

export function callsTable({ calls }: Results): Table[] {
  if (!calls) return []
  const title = `Calls, ${calls.connections} connections, tiles in memory`
  const head = ['call', 'calls/s', 'p50 ms', 'p99 ms', 'of bare', 'of anonymous']
  const rows = calls.rows.map(({ call, rate, p50, p99, rateToBare, rateToAnonymous }) => [
    CALL_NAMES[call],
    ...[rate, p50, p99, rateToBare, rateToAnonymous].map(figure),
  ])
  return [table(title, head, rows)]
}

function workersTables({ workers }: Results): Table[] {
  const rates = (workers?.rows ?? []).map(({ workers, rate, p50, p99, rateToOne, generatorLoad }) =>
    [workers, rate, p50, p99, rateToOne, generatorLoad].map(figure),
  )
  const costs = (workers?.costs ?? []).map(({ workers, cpu, cpuToOne }) =>
    [workers, cpu, cpuToOne].map(figure),
  )
  const head = ['workers', 'points/s', 'p50 ms', 'p99 ms', 'of one', 'cores of the generator']
  return [
    table('Workers, 64 connections, the load generator on one core', head, rates),
    table('CPU a point, a request a core under way', ['workers', 'CPU us', 'of one'], costs),
  ]
}

function publicationTable({ publication }: Results): Table[] {
  if (!publication) return []
  const { seconds, before, after } = publication
  const row = (when: string, { rate, p50, p99 }: typeof before) => [
    `${seconds} seconds ${when}`,
    ...[rate, p50, p99].map(figure),
  ]
  const head = ['when', 'points/s', 'p50 ms', 'p99 ms']
  const rows = [row('before', before), row('after', after)]
  return [table('A publication under load, 64 connections', head, rows)]
}

function bulkTable({ bulk, fields }: Results): Table[] {
  const rows: string[][] = []
  const add = (what: string, count: number, ms: number) =>
    rows.push([what, ...[count, ms, (count / ms) * 1000].map(figure)])
  if (bulk) {
    add('zones, of a new process that has no results', bulk.areas, bulk.areasCold)
    add('zones, again', bulk.areas, bulk.areasWarm)
    add('fields of 1 ha, each new', bulk.fields, bulk.fieldsCold)
  }
  if (fields) {
    add('fields that are kept in a collection', fields.fields, fields.kept)
    add('saved fields, for the first time', fields.fields, fields.first)
    add('saved fields, again', fields.fields, fields.again)
    add('saved fields, on the next release of the grid', fields.fields, fields.next)
  }
  return [table('Many polygons in one call', ['polygons', 'count', 'ms', 'polygons/s'], rows)]
}

export function embeddedTable({ embedded }: Results): Table[] {
  if (!embedded) return []
  const head = ['connections', 'points/s', 'p50 ms', 'p99 ms', 'of bare']
  const rows = embedded.cells.map(({ connections, rate, p50, p99, rateToBare }) => [
    `${connections}`,
    ...[rate, p50, p99, rateToBare].map(figure),
  ])
  return [table('Points on the embedded database', head, rows)]
}

export function batchTable({ batch }: Results): Table[] {
  if (!batch) return []
  const { headings, rows } = pivot(batch.rows, {
    labels: ({ form }) => [form],
    heading: ({ target, coding }) => `${TARGET_NAMES[target]}, ${coding}`,
    cell: ({ pointsPerSecond }) => figure(pointsPerSecond),
  })
  const title = `${figure(batch.points)} points in one call, points/s`
  return [table(title, ['form', ...headings], rows.map(cellsOf))]
}

const SHAPES = { area: 'larger', boundary: 'longer boundary' }

export function polygonsTable({ polygons }: Results): Table[] {
  if (!polygons) return []
  const rows = polygons.shapes.map(({ series, areaKm2, boundaryKm, ms }) => [
    SHAPES[series],
    ...[areaKm2, boundaryKm, ms].map(figure),
  ])
  return [table('Polygons by area and by boundary', ['stars', 'km2', 'boundary km', 'ms'], rows)]
}

export function growthTable({ growth }: Results): Table[] {
  if (!growth) return []
  const { headings, rows } = pivot(growth.rows, {
    labels: ({ target, connections }) => [TARGET_NAMES[target], `${connections}`],
    heading: ({ releases, tiles }) => `${figure(releases)} releases, ${figure(tiles)} tiles`,
    cell: ({ p50, growth }) => `${figure(p50)}, ${figure(growth)}`,
  })
  const head = ['target', 'connections', ...headings]
  return [table('p50 in ms, and its ratio to the first', head, rows.map(cellsOf))]
}

export function historyTables({ history }: Results): Table[] {
  if (!history) return []
  const { small, large, rows, reads } = history
  const few = `with ${figure(small.items)} items`
  const many = `with ${figure(large.items)}`
  const calls = rows.map(({ what, small, large, times }, index) => [
    `${index + 1} ${what}`,
    ...[small, large, times].map(figure),
  ])
  const statements = reads
    .filter(({ small, large }) => large > small)
    .map(({ what, small, large }) => [what, figure(small), figure(large)])
  return [
    table('Histories', ['call', `ms ${few}`, `ms ${many}`, 'times'], calls),
    table('Items that statements read, if more in the larger history', ['statement', few, many], statements),
  ]
}

export function loadsTable({ loads }: Results): Table[] {
  if (!loads) return []
  const head = ['database', 'CPU s of Node', 'CPU s of PostgreSQL', 's', 'CPU of a copy']
  const rows = loads.rows.map(({ target, node, database, seconds, cpuToCopy }) => [
    target,
    ...[node, database ?? Number.NaN, seconds, cpuToCopy].map((value) =>
      Number.isNaN(value) ? '' : figure(value),
    ),
  ])
  return [table('A load of 8 layers', head, rows)]
}

export function processTable({ memory, startUp, embedded }: Results): Table[] {
  const rows: string[][] = []
  const add = (what: string, value: number | null | undefined, unit: string) => {
    if (value !== null && value !== undefined) rows.push([what, `${figure(value)} ${unit}`])
  }
  add('start on a server', startUp?.server, 's')
  add('first start, embedded, with demo data', startUp?.embeddedFirst, 's')
  add('second start, embedded', startUp?.embeddedSecond, 's')
  add('memory after the start', memory?.idle, 'MiB')
  add('memory after points at 64 connections', memory?.loaded, 'MiB')
  add('memory with the cache full', memory?.full, 'MiB')
  add('peak memory', memory?.peak, 'MiB')
  add('memory after points, embedded', embedded?.memory, 'MiB')
  return rows.length > 0 ? [table('Start-up and memory', ['figure', 'measured'], rows)] : []
}

export function allTables(results: Results): Table[] {
  const makers = [
    ...[pointsTables, callsTable, workersTables, publicationTable, batchTable, polygonsTable],
    ...[bulkTable, growthTable, historyTables, loadsTable, embeddedTable, processTable],
  ]
  const tables = [...makers.flatMap((make) => make(results)), limitsTable(results)]
  return tables.filter(({ rows }) => rows.length > 0)
}

const cellsOf = ({ labels, cells }: { labels: string[]; cells: string[] }) => [...labels, ...cells]

/** A row for each combination of labels, a column for each heading; cells without a figure are empty. */
function pivot<Item>(
  items: Item[],
  of: { labels: (item: Item) => string[]; heading: (item: Item) => string; cell: (item: Item) => string },
): { headings: string[]; rows: { labels: string[]; cells: string[] }[] } {
  const headings = [...new Set(items.map(of.heading))]
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = of.labels(item).join('\n')
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  const rows = [...groups].map(([key, members]) => ({
    labels: key.split('\n'),
    cells: headings.map((heading) => {
      const found = members.find((item) => of.heading(item) === heading)
      return found ? of.cell(found) : ''
    }),
  }))
  return { headings, rows }
}
