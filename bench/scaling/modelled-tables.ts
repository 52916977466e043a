import { figure } from '../limits.ts'
import type { Table } from '../report/table.ts'
import { coefficientsOf } from './coefficients.ts'
import { costOf } from './cost-model.ts'
import { PRICES } from './prices.ts'
import {
  BLOCKS_OF_GRANULE,
  benchPointsOf,
  coldOf,
  farColdMs,
  filesP99Ms,
  hitRatio,
  memoryBytesOfTile,
  mostPointsPerSecond,
  PLANNED_USE,
  p99Ms,
} from './requests-model.ts'
import type { ScalingResults } from './results.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'
import { type Storage, storageOf } from './storage-model.ts'
import { bytesText, countText, percentText, secondsText } from './units.ts'

/** What a scenario takes for one release. */
export function storageIn(results: ScalingResults, { dataset, store }: Scenario): Storage {
  return storageOf(dataset, store, coefficientsOf(results), results.rows)
}

/** What crosses the network to each further member while a release is loaded, at a gigabit a second; assumed. */
const NETWORK_BYTES_PER_SECOND = 125e6

export function storageTable(results: ScalingResults): Table {
  return {
    title: 'One release (modelled)',
    head: [
      ...['scenario', 'pixels', 'tiles', 'granules', 'their blocks at most'],
      ...[
        'in PostgreSQL',
        'of that: key of tiles',
        'summaries',
        'in files',
        'log',
        'the log at 1 Gbit/s',
        'computing of the load',
      ],
    ],
    rows: SCENARIOS.map((scenario) => {
      const storage = storageIn(results, scenario)
      return [
        scenario.name,
        countText(scenario.dataset.pixels),
        countText(storage.tiles),
        storage.granules ? countText(storage.granules) : '',
        storage.granules ? countText(storage.granules * BLOCKS_OF_GRANULE) : '',
        bytesText(storage.databaseBytes),
        storage.tileIndexBytes ? bytesText(storage.tileIndexBytes) : '',
        bytesText(storage.summaryBytes),
        storage.fileBytes ? bytesText(storage.fileBytes) : '',
        bytesText(storage.walBytes),
        secondsText(storage.walBytes / NETWORK_BYTES_PER_SECOND),
        secondsText(storage.coreSeconds),
      ]
    }),
  }
}

const PROCESSES = [1, 4, 16]

export function processesTable(results: ScalingResults): Table {
  const busy = benchPointsOf(results, 'memory', 64)
  const alone = benchPointsOf(results, 'memory', 1)
  return {
    title: 'Points whose tiles are in memory (modelled)',
    head: [
      ...['processes', 'points/s at most', `at ${percentText(PLANNED_USE)} of that`],
      ...['p99 ms then', 'p99 ms at 90 %', 'memory with the default cache'],
    ],
    rows: PROCESSES.map((processes) => {
      const most = mostPointsPerSecond(busy.rate, processes)
      return [
        `${processes}`,
        figure(most),
        figure(PLANNED_USE * most),
        figure(p99Ms(alone, PLANNED_USE)),
        figure(p99Ms(alone, 0.9)),
        bytesText(processes * results.bench.memory.full * 2 ** 20),
      ]
    }),
  }
}

/** Members that are read from: replicas, where there are any. */
const READERS = { 1: 1, 3: 2 }

export function coldRatesTable(results: ScalingResults): Table {
  const cold = coldOf(results, 'postgis', 64)
  const busy = benchPointsOf(results, 'memory', 64)
  const cores = 4
  const rows = Object.entries(READERS).flatMap(([members, readers]) => {
    const most = (PLANNED_USE * readers * cores * 1000) / cold.serverCpuMs
    return [0.05, 0.5, 1].map((share) => [
      members,
      `${readers}`,
      percentText(share),
      figure(most / share),
      figure((most / share) * (((1 - share) * 1000) / busy.rate + share * cold.serviceCpuMs) * 1e-3),
    ])
  })
  return {
    title: `What PostgreSQL answers with ${cores} cores a member, half used (modelled)`,
    head: ['members', 'read from', 'points not in memory', 'points/s of all processes', 'cores of processes'],
    rows,
  }
}

/** What object storage, or a machine in another place, may take for an answer; assumed. */
const FAR_MS = 20

/** A point of each scenario: what is found in memory, and how long 99 of 100 take that are, and that are not. */
export function pointsTable(results: ScalingResults): Table {
  const room = (megabytes: number) => (megabytes * 1e6) / memoryBytesOfTile(8)
  const caches = [256, 1024, 4096]
  const busy = benchPointsOf(results, 'memory', 64)
  const alone = benchPointsOf(results, 'memory', 1)
  return {
    title: `Points of each scenario, half of the CPU used, all tiles asked for by Zipf’s law (modelled)`,
    head: [
      ...['scenario', 'points/s, were all in memory', 'p99 ms, tile in memory'],
      ...caches.map((megabytes) => `found, \`TILE_CACHE_MB=${megabytes}\``),
      ...['p99 ms, tile not in memory', `the same ${FAR_MS} ms away`],
    ],
    rows: SCENARIOS.map((scenario) => {
      const { store, processes } = scenario
      const tiles = Math.round(storageIn(results, scenario).tiles)
      const near = store === 'files' ? filesP99Ms(results) : benchPointsOf(results, 'no-cache', 1).p99
      return [
        scenario.name,
        figure(PLANNED_USE * mostPointsPerSecond(busy.rate, processes)),
        figure(p99Ms(alone, PLANNED_USE)),
        ...caches.map((megabytes) => percentText(hitRatio(tiles, room(megabytes)))),
        figure(near),
        store === 'files' ? figure(farColdMs(near, FAR_MS, 2)) : '',
      ]
    }),
  }
}

export function costTable(results: ScalingResults): Table {
  return {
    title: 'Euro a month (modelled)',
    head: [
      ...[
        'scenario',
        'releases kept',
        'service',
        'PostgreSQL',
        'kept in PostgreSQL, each member',
        'in files',
      ],
      ...['machines', 'volumes', 'object storage', 'all'],
    ],
    rows: SCENARIOS.map((scenario) => {
      const { services, members, releases } = scenario
      const { databaseBytes, fileBytes } = storageIn(results, scenario)
      const kept = { databaseBytes: releases * databaseBytes, fileBytes: releases * fileBytes }
      const cost = costOf({ services, members, ...kept })
      return [
        scenario.name,
        `${releases}`,
        `${services.count} x ${services.cores} cores`,
        `${members.count} x ${members.cores} cores`,
        bytesText(kept.databaseBytes),
        kept.fileBytes ? bytesText(kept.fileBytes) : '',
        ...[cost.machines, cost.volumes, cost.objects, cost.total].map((euro) => figure(Math.round(euro))),
      ]
    }),
  }
}

export function pricesTable(): Table {
  return {
    title: 'Prices (assumed from these sources)',
    head: ['what', 'euro a month, without VAT', 'source', 'of'],
    rows: PRICES.map(({ what, euro, source, at }) => [what, figure(euro), source, at]),
  }
}
