import { figure, judge, OF_HISTORIES } from '../limits.ts'
import type { Call, Compared, Results, Spread, Target } from '../results.ts'

/** A table of the report, for the terminal and for the page. */
export interface Table {
  title: string
  head: string[]
  rows: string[][]
}

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

const LOAD_HEAD = ['points/s', 'p50 ms', 'p99 ms', 'of bare']

function loadCells({ rate, p50, p99, rateToBare }: Compared): string[] {
  return [figure(rate), figure(p50), figure(p99), figure(rateToBare)]
}

/** Limits of histories that are met are left out: their table has the same figures. */
export function limitsTable(results: Results): Table {
  return {
    title: 'Limits',
    head: ['figure', 'limit; goal', 'measured', ''],
    rows: judge(results)
      .filter(({ what, verdict }) => verdict !== 'met' || !what.includes(OF_HISTORIES))
      .map(({ what, limit, goal, measured, verdict }) => [
        what,
        [limit, goal && `goal ${goal}`].filter(Boolean).join('; '),
        measured,
        verdict === 'met' ? '' : verdict,
      ]),
  }
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
    figure(rate),
    figure(p99),
    figure(rateToBare),
    ratio(rateToWarm),
  ])
  return [
    {
      title: 'Points a second, and p99 in ms',
      head: [
        'points',
        'connections',
        ...headings,
        'in memory, of bare',
        'of one query',
        'TILE_CACHE_MB=0, of bare',
      ],
      rows: rows.map(({ labels, items, cells }) => {
        const memory = items.find(({ target }) => target === 'memory')
        const noCache = items.find(({ target }) => target === 'no-cache')
        return [
          ...labels,
          ...cells,
          ...[memory?.rateToBare, memory?.rateToOneQuery, noCache?.rateToBare].map(ratio),
        ]
      }),
    },
    {
      title: `The first ${points.cold[0]?.seconds} seconds of a new process, 64 connections`,
      head: ['target', 'points/s', 'p99 ms', 'of bare', 'of warm'],
      rows: cold,
    },
  ]
}

const CALL_NAMES: Record<Call, string> = {
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
  return [
    {
      title: `Calls, ${calls.connections} connections, tiles in memory`,
      head: ['call', 'calls/s', 'p50 ms', 'p99 ms', 'of bare', 'of anonymous'],
      rows: calls.rows.map(({ call, rate, p50, p99, ...ratios }) => [
        CALL_NAMES[call],
        figure(rate),
        figure(p50),
        figure(p99),
        figure(ratios.rateToBare),
        figure(ratios.rateToAnonymous),
      ]),
    },
  ]
}

export function workersTable({ workers }: Results): Table[] {
  if (!workers) return []
  return [
    {
      title: 'Workers, 64 connections, the load generator on one core',
      head: ['workers', 'points/s', 'p50 ms', 'p99 ms', 'of one', 'cores of the generator'],
      rows: workers.rows.map(({ workers, rate, p50, p99, rateToOne, generatorLoad }) =>
        [workers, rate, p50, p99, rateToOne, generatorLoad].map(figure),
      ),
    },
  ]
}

function workerCostsTable({ workers }: Results): Table[] {
  if (!workers?.costs) return []
  return [
    {
      title: 'CPU a point, a request a core under way',
      head: ['workers', 'CPU us', 'of one'],
      rows: workers.costs.map(({ workers, cpu, cpuToOne }) => [workers, cpu, cpuToOne].map(figure)),
    },
  ]
}

export function publicationTable({ publication }: Results): Table[] {
  if (!publication) return []
  const { seconds, before, after } = publication
  return [
    {
      title: 'A publication under load, 64 connections',
      head: ['when', 'points/s', 'p50 ms', 'p99 ms'],
      rows: [
        [`${seconds} seconds before`, ...[before.rate, before.p50, before.p99].map(figure)],
        [`${seconds} seconds after`, ...[after.rate, after.p50, after.p99].map(figure)],
      ],
    },
  ]
}

export function bulkTable({ bulk, fields }: Results): Table[] {
  if (!bulk && !fields) return []
  const row = (what: string, count: number, ms: number) => [
    what,
    figure(count),
    figure(ms),
    figure((count / ms) * 1000),
  ]
  return [
    {
      title: 'Many polygons in one call',
      head: ['polygons', 'count', 'ms', 'polygons/s'],
      rows: [
        ...(bulk
          ? [
              row('zones, of a new process that has no results', bulk.areas, bulk.areasCold),
              row('zones, again', bulk.areas, bulk.areasWarm),
              row('fields of 1 ha, each new', bulk.fields, bulk.fieldsCold),
            ]
          : []),
        ...(fields
          ? [
              row('fields that are kept in a collection', fields.fields, fields.kept),
              row('saved fields, for the first time', fields.fields, fields.first),
              row('saved fields, again', fields.fields, fields.again),
              row('saved fields, on the next release of the grid', fields.fields, fields.next),
            ]
          : []),
      ],
    },
  ]
}

export function embeddedTable({ embedded }: Results): Table[] {
  if (!embedded) return []
  return [
    {
      title: 'Points on the embedded database',
      head: ['connections', ...LOAD_HEAD],
      rows: embedded.cells.map((cell) => [`${cell.connections}`, ...loadCells(cell)]),
    },
  ]
}

export function batchTable({ batch }: Results): Table[] {
  if (!batch) return []
  const { headings, rows } = pivot(batch.rows, {
    labels: ({ form }) => [form],
    heading: ({ target, coding }) => `${TARGET_NAMES[target]}, ${coding}`,
    cell: ({ pointsPerSecond }) => figure(pointsPerSecond),
  })
  return [
    {
      title: `${figure(batch.points)} points in one call, points/s`,
      head: ['form', ...headings],
      rows: rows.map(({ labels, cells }) => [...labels, ...cells]),
    },
  ]
}

const SHAPES = { area: 'larger', boundary: 'longer boundary' }

export function polygonsTable({ polygons }: Results): Table[] {
  if (!polygons) return []
  return [
    {
      title: 'Polygons by area and by boundary',
      head: ['stars', 'km2', 'boundary km', 'ms'],
      rows: polygons.shapes.map(({ series, areaKm2, boundaryKm, ms }) => [
        SHAPES[series],
        figure(areaKm2),
        figure(boundaryKm),
        figure(ms),
      ]),
    },
  ]
}

export function growthTable({ growth }: Results): Table[] {
  if (!growth) return []
  const { headings, rows } = pivot(growth.rows, {
    labels: ({ target, connections }) => [TARGET_NAMES[target], `${connections}`],
    heading: ({ releases, tiles }) => `${figure(releases)} releases, ${figure(tiles)} tiles`,
    cell: ({ p50, growth }) => `${figure(p50)}, ${figure(growth)}`,
  })
  return [
    {
      title: 'p50 in ms, and its ratio to the first',
      head: ['target', 'connections', ...headings],
      rows: rows.map(({ labels, cells }) => [...labels, ...cells]),
    },
  ]
}

export function historyTables({ history }: Results): Table[] {
  if (!history) return []
  const { small, large, rows, reads } = history
  return [
    {
      title: 'Histories',
      head: ['call', `ms with ${figure(small.items)} items`, `ms with ${figure(large.items)}`, 'times'],
      rows: rows.map(({ what, small, large, times }, index) => [
        `${index + 1} ${what}`,
        ...[small, large, times].map(figure),
      ]),
    },
    {
      title: 'Items that statements read, if more in the larger history',
      head: ['statement', `with ${figure(small.items)} items`, `with ${figure(large.items)}`],
      rows: reads
        .filter(({ small, large }) => large > small)
        .map(({ what, small, large }) => [what, figure(small), figure(large)]),
    },
  ]
}

export function processTable({ memory, startUp, embedded }: Results): Table[] {
  const rows: string[][] = []
  const add = (what: string, value: number | null | undefined, unit: string) => {
    if (value !== null && value !== undefined) rows.push([what, `${figure(value)} ${unit}`])
  }
  add('start on a server', startUp?.server, 's')
  add('first start, embedded, with demo data', startUp?.embeddedFirst, 's')
  add('second start, embedded', startUp?.embeddedSecond, 's')
  add('loading the release, embedded', embedded?.loadedIn, 's')
  add('memory after the start', memory?.idle, 'MiB')
  add('memory after points at 64 connections', memory?.loaded, 'MiB')
  add('memory with the cache full', memory?.full, 'MiB')
  add('peak memory', memory?.peak, 'MiB')
  add('memory after points, embedded', embedded?.memory, 'MiB')
  return rows.length > 0 ? [{ title: 'Start-up and memory', head: ['figure', 'measured'], rows }] : []
}

export function allTables(results: Results): Table[] {
  return [
    ...pointsTables(results),
    ...callsTable(results),
    ...workersTable(results),
    ...workerCostsTable(results),
    ...publicationTable(results),
    ...batchTable(results),
    ...polygonsTable(results),
    ...bulkTable(results),
    ...growthTable(results),
    ...historyTables(results),
    ...embeddedTable(results),
    ...processTable(results),
    limitsTable(results),
  ].filter(({ rows }) => rows.length > 0)
}

/** A row for each combination of labels, a column for each heading; cells without a figure are empty. */
function pivot<Item>(
  items: Item[],
  of: { labels: (item: Item) => string[]; heading: (item: Item) => string; cell: (item: Item) => string },
): { headings: string[]; rows: { labels: string[]; items: Item[]; cells: string[] }[] } {
  const headings = [...new Set(items.map(of.heading))]
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = of.labels(item).join('\n')
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  const rows = [...groups].map(([key, members]) => ({
    labels: key.split('\n'),
    items: members,
    cells: headings.map((heading) => {
      const found = members.find((item) => of.heading(item) === heading)
      return found ? of.cell(found) : ''
    }),
  }))
  return { headings, rows }
}
