import { figure } from '../limits.ts'
import { isBusy } from '../machine.ts'
import type { Table } from '../report/table.ts'
import { coefficientsOf } from './coefficients.ts'
import { BACKUPS, DISK_ROOM } from './cost-model.ts'
import { checksTable, coldTable, loadsTable, memoryTable, rowsTable, warmTable } from './measured-tables.ts'
import {
  coldRatesTable,
  costTable,
  pointsTable,
  pricesTable,
  processesTable,
  storageTable,
} from './modelled-tables.ts'
import { DEAREST } from './prices.ts'
import { WORKER_OVERHEAD } from './requests-model.ts'
import type { ScalingResults } from './results.ts'
import { stagesTable } from './stages.ts'
import { bytesText } from './units.ts'

/** docs/scaling.md: text, what was measured, and what the model makes of it. */
export function scalingPage(results: ScalingResults): string {
  const parts = [
    '# Scaling',
    '<!-- Made by `node bin/run.mjs bench/scaling/run.ts --report` from scaling/results.json: do not edit. -->',
    introduction(results),
    '## Which stage am I in?',
    tableText(stagesTable(results)),
    STAGES,
    '## What grows with what',
    growth(results),
    '## Pixels',
    CONTENT,
    `${images('stored', 'load')}\n\n${tablesText(loadsTable(results))}`,
    '### One release of more than was measured',
    SCENARIO,
    `${images('africa')}\n\n${tablesText(storageTable(results))}`,
    AFRICA,
    '## Requests',
    REQUESTS,
    tablesText(warmTable(results), processesTable(results)),
    MEMORY,
    `${images('found')}\n\n${tablesText(memoryTable(results))}`,
    COLD,
    tablesText(coldTable(results), coldRatesTable(results), pointsTable(results)),
    header(results),
    '## Users and releases',
    USERS,
    tablesText(rowsTable(results)),
    workers(results),
    '## Cost',
    COST,
    tablesText(costTable(results), pricesTable()),
    '## How far the model can be trusted',
    TRUST,
    tablesText(checksTable(results)),
    UNKNOWN,
    '## Repeat it',
    REPEAT,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function introduction({ at, machine, loadBefore }: ScalingResults): string {
  const { cpu, cores, memoryGiB, system, node, postgresql, postgis } = machine
  const other = isBusy(loadBefore)
    ? `**The machine had other work** (load ${figure(loadBefore)}): what was computed may be too much, and times are not shown where they matter. Rates and latencies of points are those of a full run of the bench, which had the machine for itself.`
    : `The machine was quiet (load ${figure(loadBefore)}).`
  return `What the service takes when it grows, where each stage ends, and what comes next. Numbers are **measured**, **modelled** (by \`bench/scaling\`, from what was measured) or **assumed**; each table says which.

Measured on ${at.slice(0, 10)}: ${cpu}, ${cores} cores, ${memoryGiB} GiB of memory; ${system}; Node ${node}, PostgreSQL ${postgresql} with PostGIS ${postgis}, which did not wait for the disk (\`fsync=off\`) and shared the machine with the service and with who asked. Loads, points and memory are of several runs of that day. ${other}`
}

const STAGES = `A country at 300 m has some ten million pixels: it begins in stage 2, and needs no other for their sake. What ends a stage is what comes first of its column; points/s are for tiles in memory, over connections that are kept.`

function growth(results: ScalingResults): string {
  const { float32, int16 } = coefficientsOf(results)
  const layer = (bytes: number) => bytesText(bytes / 8)
  const inDatabase = (of: typeof float32) =>
    of.tilesPerPixel * (of.tileBytesPerTile + of.indexBytesPerTile + of.summaryBytesPerTile)
  return tableText({
    title: '',
    head: ['with', 'grows', 'by (measured)'],
    rows: [
      [
        'pixels and layers',
        'disk of PostgreSQL, and of each replica',
        `${layer(inDatabase(float32))} a pixel and layer of Float32, ${layer(inDatabase(int16))} of 16-bit integers`,
      ],
      [
        '',
        'or files',
        `${layer(float32.fileBytesPerPixel)} and ${layer(int16.fileBytesPerPixel)}, and in PostgreSQL ${layer(float32.tilesPerPixel * float32.summaryBytesPerTile)} for summaries`,
      ],
      [
        '',
        'the key of tiles, which has to be in memory',
        `${bytesText(float32.indexBytesPerTile)} a tile of 256 pixels, whatever the layers`,
      ],
      [
        '',
        'log for replicas and backups',
        `${layer(float32.walBytesPerPixel.postgis)} a pixel and layer of Float32; ${layer(float32.walBytesPerPixel.files)} with files`,
      ],
      [
        'tiles in use',
        'memory of each process, up to `TILE_CACHE_MB`',
        'a tile with eight layers takes 8.4 kB, of whatever type',
      ],
      [
        'points',
        'CPU of processes',
        `${figure(1000 * (results.warm.at(-1)?.cpuMs ?? 0))} µs each, many at a time; ${figure(1000 * (results.warm[0]?.cpuMs ?? 0))} µs one by one`,
      ],
      [
        'points that are not in memory',
        'CPU of PostgreSQL, which replicas share',
        `${figure(1000 * (results.cold.find(({ store, connections }) => store === 'postgis' && connections === 64)?.serverCpuMs ?? 0))} µs each, many at a time`,
      ],
      [
        'releases',
        'disk alone: a point reads one release',
        '[performance.md](performance.md) has 1 to 100 of them',
      ],
      ['users and their histories', 'rows', 'see below'],
    ],
  })
}

const CONTENT = `Squares of 30 m pixels with eight layers, loaded by \`agro ingest\`'s own code from uncompressed GeoTIFFs. **float32**: numbers that wander over kilometres, with noise from pixel to pixel, in all digits of a Float32. **int16**: the same in steps of 0.1. **masked**: these integers where fields are, 6.9 % of all pixels as in Africa, in regions of some ten kilometres; whole regions without a field leave out more tiles than this. **published**: two layers of wheat in Ethiopia at 300 m as they were published, Float32, with values in half of the pixels. Masked Float32 was not measured: it takes more than these integers, and less than float32 without a mask. Bytes a pixel count those without a value, too. Real rasters compress differently: load one and look.`

const SCENARIO = `All of it grows in proportion with pixels, which the measured sizes bear out (below). Ten countries are Ethiopia's area each. Africa's land at 30 m is 34 thousand million pixels, 1.1 TB of Float32 in eight layers; 211 million hectares of it are cropland (Lou et al. 2025, doi 10.5194/essd-17-3777-2025), spread as in the masked rasters (assumed).`

const AFRICA = `- Computing is that of the process that loads and of PostgreSQL together: what one load takes at most. They work beside each other, so it takes less where both have a core. Releases of different countries can be loaded at the same time: Africa is some fifty of them.
- With tiles in PostgreSQL, every member has every byte, and the log carries each to every replica. With tiles in files, the log has summaries alone.
- Summaries stay in PostgreSQL in either case, since polygons need them.`

const REQUESTS = `A process answers points whose tiles it has from memory, and shares nothing with others: rates add up. **Assumed**: a point costs ${figure(WORKER_OVERHEAD)} times as much in one of several processes (measured with two: [all cores](operations.md#all-cores)), and each has a core of its own; memory bandwidth is not modelled. The time that 99 of 100 stay below is that of one client plus a line with arrivals at random (M/M/1, modelled); collecting garbage and publications are not in it.`

const MEMORY = `What a process finds depends on how tiles are asked for. **Assumed** is Zipf's law with exponent 1, as with towns; \`tile-cache.ts\` clears what was not asked for lately, for which Che's approximation of such caches stands. That every tile is asked for by somebody, as below, is the worst case. Each process has a cache of its own: 4 GB for each of eight processes have no room in a machine of 32 GB.`

const COLD = `A point that is not in memory takes one query of PostgreSQL, shared by all that wait at that moment, or ranges of bytes of a file: one for its block of 128 pixels, and one before it where the header of the granule is not in memory. With one connection each point is of a block of its own; with 64, of a tile of its own. The time of a tile that is not in memory is that of one client of the full run of the bench, whose data the machine had in memory: a disk adds what its reads take. From files it is that, what the service computes more, and two reads where the header is not in memory (modelled; on a quiet machine it was not measured).`

function header({ header: { heapBytes, fileBytes, layers } }: ScalingResults): string {
  return `The header of a granule of ${layers} layers takes ${bytesText(heapBytes)} of memory (measured), and ${bytesText(fileBytes)} in its file; a process keeps 4,096 of them, so ${bytesText(4096 * heapBytes)} (modelled).`
}

const USERS = `Accounts and histories do not slow points down; they take disk, which \`HISTORY_USER_MB\`, \`HISTORY_USER_ITEMS\` and \`HISTORY_MONTHS\` bound.`

function workers({ bench }: ScalingResults): string {
  const two = bench.workers.find(({ workers }) => workers === 2)
  if (!two) return ''
  return `Two workers on two cores answered ${figure(two.rateToOne)} times what one did, with the load generator on one of the cores (measured, full run of the bench of ${bench.at.slice(0, 10)}).`
}

const COST = `Servers have cores of their own; each member of PostgreSQL has its database on a volume, with ${figure(DISK_ROOM)} times the room (assumed), and ${BACKUPS} copies of it lie in object storage as backups (assumed), as do files, once. Countries keep the releases of twelve months, Africa the one that answers and the one before. Traffic to users, balancers and people are not in it. Prices are those of one inexpensive provider and change: ${DEAREST.what}, so that machines cost ${figure(DEAREST.factor)} times as much there. Where requests to object storage are paid for, a cold point is one or two.`

const TRUST = `The model is made from the loads of a million pixels with eight layers and from a process without tiles; it is held to all other measurements. A test fails where it is off by more than is allowed here. Beyond what was measured (14 million pixels, two cores, one machine) it is a straight line, and nobody has seen its end.`

const UNKNOWN = `What is not known: how PostgreSQL behaves with a key of tiles that does not fit into memory; how many loads at a time a server bears; what real object storage adds beyond the delay; how polygons get slower with summaries on disk.`

const REPEAT = `\`\`\`
node bin/run.mjs bench/scaling/run.ts             # measure: some minutes, with some GB of disk
node bin/run.mjs bench/scaling/run.ts --report    # and write this page
node bin/run.mjs bench/scaling/run.ts --redraw    # write it anew from the same results, after a change of the model
\`\`\`

Prices and scenarios are \`bench/scaling/prices.ts\` and \`scenarios.ts\`: put in your own, and redraw.`

function images(...names: string[]): string {
  return names.map((name) => `![${name}](scaling/${name}.svg)`).join('\n\n')
}

function tablesText(...tables: Table[]): string {
  return tables.map((table) => `**${table.title}**\n\n${tableText(table)}`).join('\n\n')
}

function tableText({ head, rows }: Table): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
