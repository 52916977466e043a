import { figure } from '../limits.ts'
import type { Table } from '../report/table.ts'
import { checksOf, errorOf, storedBytesOf } from './checks.ts'
import { isReference } from './coefficients.ts'
import { hitRatio, residentMiB } from './requests-model.ts'
import type { LoadRow, RowBytes, ScalingResults } from './results.ts'
import { bytesText, countText, percentText } from './units.ts'

export function loadsTable({ loads }: ScalingResults): Table {
  const row = (load: LoadRow) => [
    load.content,
    load.store,
    countText(load.pixels),
    `${load.layers}`,
    figure(load.tiles),
    bytesText(load.store === 'files' ? load.fileBytes : load.tileBytes),
    bytesText(load.tileIndexBytes),
    bytesText(load.summaryBytes),
    bytesText(load.walBytes),
    figure(storedBytesOf(load) / (load.pixels * load.layers)),
    figure(load.seconds),
    figure(load.loaderCpuSeconds),
    figure(load.serverCpuSeconds),
    load.content === 'published' ? '' : isReference(load) ? 'made from' : 'held to',
  ]
  return {
    title: 'Loads (measured)',
    head: [
      ...['content', 'store', 'pixels', 'layers', 'tiles', 'pixels stored', 'key of tiles', 'summaries'],
      ...['log', 'bytes a pixel and layer', 's', 's of the loader', 's of PostgreSQL', 'the model is'],
    ],
    rows: loads.map(row),
  }
}

export function memoryTable({ memory }: ScalingResults): Table {
  return {
    title: 'Memory of a process, and what it finds there',
    head: [
      ...['`TILE_CACHE_MB`', 'tiles in memory', 'MiB (measured)', 'MiB (modelled)'],
      ...['found (measured)', 'found (modelled)'],
    ],
    rows: memory.map(({ tileCacheMB, tiles, residentMiB: resident, places, hitRatio: found }) => [
      `${tileCacheMB}`,
      figure(tiles),
      figure(resident),
      tileCacheMB > 0 ? figure(residentMiB(memory, tileCacheMB)) : '',
      percentText(found),
      percentText(hitRatio(places, tiles)),
    ]),
  }
}

const STORE_NAMES = { postgis: 'PostgreSQL', files: 'files in a folder', web: 'files of a web server' }

/** Without latencies: those of a process that has just begun say how busy the machine was. */
export function coldTable({ cold }: ScalingResults): Table {
  return {
    title: 'Points that are not in memory, of a process that has just begun (measured)',
    head: [
      ...['tiles from', 'connections', 'points', 'reads of files a point'],
      ...['ms of computing a point: the service', 'PostgreSQL'],
    ],
    rows: cold.map((row) => [
      STORE_NAMES[row.store],
      `${row.connections}`,
      figure(row.points),
      row.reads === null ? '' : figure(row.reads),
      figure(row.serviceCpuMs),
      figure(row.serverCpuMs),
    ]),
  }
}

export function warmTable({ bench, warm }: ScalingResults): Table {
  const computing = (connections: number) => warm.find((row) => row.connections === connections)?.cpuMs
  const names = { memory: 'in memory', 'no-cache': 'asked of PostgreSQL each time' }
  return {
    title: 'Points of one process (measured, full run of the bench)',
    head: ['tiles', 'connections', 'points/s', 'p50 ms', 'p99 ms', 'ms of computing a point'],
    rows: bench.points.map(({ target, connections, rate, p50, p99 }) => {
      const cpuMs = target === 'memory' ? computing(connections) : undefined
      const numbers = [rate, p50, p99].map(figure)
      return [names[target], `${connections}`, ...numbers, cpuMs === undefined ? '' : figure(cpuMs)]
    }),
  }
}

const ROW_NAMES: Record<keyof RowBytes, string> = {
  account: 'an account',
  session: 'a session',
  refreshToken: 'a refresh token',
  key: 'a key',
  usageDay: 'a day on which an account asked about one product, country and crop',
  granule: 'a granule',
}

export function rowsTable({ rows, bench }: ScalingResults): Table {
  const listed = Object.entries(ROW_NAMES).map(([key, name]) => [
    name,
    bytesText(rows[key as keyof RowBytes]),
  ])
  const { items, gigabytes } = bench.history
  listed.push([
    `an item of a history: points, and some polygons (of ${countText(items)}, full run of the bench)`,
    bytesText((gigabytes * 1e9) / items),
  ])
  return { title: 'Rows, with their indexes (measured)', head: ['what', 'on disk'], rows: listed }
}

export function checksTable(results: ScalingResults): Table {
  return {
    title: 'The model beside what was measured',
    head: ['what', 'unit', 'measured', 'modelled', 'off by', 'allowed'],
    rows: checksOf(results).map((check) => [
      check.what,
      check.unit,
      figure(check.measured),
      figure(check.modelled),
      percentText(errorOf(check)),
      percentText(check.tolerance),
    ]),
  }
}
