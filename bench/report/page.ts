import { figure } from '../limits.ts'
import { isBusy, type Machine } from '../machine.ts'
import type { Results } from '../results.ts'
import { historyTables } from './history-tables.ts'
import type { Table } from './table.ts'
import {
  batchTable,
  bulkTable,
  callsTable,
  embeddedTable,
  growthTable,
  limitsTable,
  pointsTables,
  polygonsTable,
  processTable,
  publicationTable,
  workersTable,
} from './tables.ts'

/** docs/performance.md: text and figures, made from the results of one run. */
export function performancePage(results: Results): string {
  const { points, calls, workers, publication, batch, polygons, bulk, growth, history, embedded, answers } =
    results
  return sections(
    '# Performance',
    `<!-- Made by \`npm run bench -- --report\` from performance/results.json: do not edit. -->`,
    `What one process of the service does, measured on ${results.at.slice(0, 10)} in one ${results.mode} run of the bench beside a bare Fastify route and a service that asks one query a request. Look at the ratios: the absolute figures belong to this machine.`,
    quietLine(results),
    '## Repeat it',
    `\`\`\`sh
npm run bench                       # all of it, about half an hour, with 20 GB of disk
npm run bench -- --quick            # fewer and shorter rounds, without growth and histories: a few minutes
npm run bench -- --only points      # a part of it
npm run bench -- --strict           # and fail where a limit is missed
npm run bench -- --report           # and write this page anew
\`\`\``,
    `It starts a PostgreSQL of its own where it finds Debian's packages (\`postgresql-15-postgis-3\`), which does not wait for the disk (\`fsync = off\`): what is stored takes longer on one that does. Or it makes databases on the server that \`BENCH_DATABASE_URL\` names; without either, only the embedded database is measured. It loads the rasters and boundaries of the folder \`BENCH_DATA\` (default \`../shared/data\`), or generates rasters of the same size. Everything that it starts and makes is gone at its end. Let nothing else run meanwhile.`,
    '## The machine',
    machineLine(results.machine),
    '## Limits',
    LIMITS,
    tableText(limitsTable(results)),
    answers &&
      `${figure(answers.points)} points were asked for on each path (${answers.paths.join(', ')}), and the bodies compared to the byte with what the bench itself read in the rasters. Answers that differed: ${answers.different}.`,
    points && '## Points',
    points &&
      `\`POST /advisory/fertilizer/point\`, 8 values an answer, from ${results.data.description}: ${figure(results.data.tiles ?? 0)} tiles. All points of the kinds "uniform" and "Zipf" have values; "anywhere" are points of the whole extent, where those without a value are answered 404.`,
    points && images('points-uniform', 'points-zipf', 'latency', 'cold'),
    points && tablesText(pointsTables(results)),
    calls && '## Other calls',
    calls &&
      `Beside a server that is Node's \`node:http\` alone, which parses the body and sends a constant. Points with a key or a token are stored in the history before they are answered. A call for all products costs ${figure(calls.allProductsCost)} of a call for each of them.`,
    calls && tablesText(callsTable(results)),
    workers && '## Workers',
    workers &&
      'One port with one process behind it, and with two (`WORKERS=2`). The load generator may use one core, and takes that from the workers where there are no more than two: on a machine with more cores the second worker adds more. [operations.md](operations.md#all-cores) has a model of 16 cores.',
    workers && tablesText(workersTable(results)),
    publication && '## A publication',
    publication &&
      'Points are asked for all the time. A release is published whose tiles nobody has asked for yet, as large as the one before:',
    publication && tablesText(publicationTable(results)),
    batch && '## Many points in one call',
    batch &&
      '`POST /advisory/fertilizer/points` with a token, one call at a time, from the first byte sent to the last one received: as it is, and compressed for a client that asks for gzip and decompresses it.',
    batch && images('batch'),
    batch && tablesText(batchTable(results)),
    polygons && '## Polygons',
    polygons &&
      `\`POST /advisory/fertilizer\` with a token, one request at a time, for all 8 layers: a field of 1 ha took ${figure(polygons.field)} ms, the median of ${polygons.zones} zones ${figure(polygons.zone)} ms, ${polygons.region} ${figure(polygons.regionCold)} ms the first time and ${figure(polygons.regionWarm)} ms from then on. ST_SummaryStatsAgg(ST_Clip(...)) of the same layers and tiles took ${figure(polygons.timesFasterThanClip)} times as long for ${polygons.region}. Pixels are looked at one by one along the boundary alone:`,
    polygons && images('polygons'),
    polygons && tablesText(polygonsTable(results)),
    bulk && '## Many polygons in one call',
    bulk && '`POST /advisory/fertilizer/polygons` with a token, one call at a time, answered as NDJSON.',
    bulk && tablesText(bulkTable(results)),
    growth && '## Growth',
    growth &&
      `${growth.description} 20,000 places are asked for, whose tiles fit into memory at every stage; with \`TILE_CACHE_MB=0\` each of them is looked up in the database.`,
    growth && images('growth'),
    growth && tablesText(growthTable(results)),
    history && '## Large histories',
    history &&
      `The service has kept advice of each product, country and kind; copies of it are the items of 2,000 accounts over two years, one to a hundred of them rated. One account has a quarter of all items, ${figure(history.large.itemsOfAccount)} of ${figure(history.large.items)}, and asks. The same with ${figure(history.small.itemsOfAccount)} of ${figure(history.small.items)} is asked by turns. Items and indexes of the larger one take ${figure(history.large.gigabytes)} GB, in ${history.large.months} partitions. Rows are the median time of a call, one at a time unless something else is said.`,
    history && images('history'),
    history && tablesText(historyTables(results)),
    embedded && '## The embedded database',
    embedded && images('embedded'),
    embedded && tablesText(embeddedTable(results)),
    '## Start-up and memory',
    tablesText(processTable(results)),
    '## How it is measured',
    HOW,
    `The load generator used at most ${figure(results.generatorLoad)} of a core.`,
    '## What the figures do not say',
    CAVEATS,
  )
}

const LIMITS = `A run fails on errors under load and on answers that differ. A **limit** is what the service must reach: with \`--strict\` a run fails where one is MISSED. A **goal** is what it is meant to reach: a run that does not meet it fails nothing.`

const HOW = `- **bare Fastify route**: validates the same request and serialises the same answer by the same schemas, knows the answer beforehand and has no plugins: no authentication, security headers, CORS or error handling.
- **one query a request**: the same route, with one prepared query a request, which calls ST_Value once a layer, over the table that \`raster2pgsql -t 32x32 -I\` makes of the rasters; 10 connections. **One query, the service's tiles** does the same over the service's own tables, whose tiles of 16 x 16 pixels are found by row and column. The limit is against the first, which is what one would write first; the second has the service's tiles already.
- **service**: \`npm start\` with the default settings, what it tells V8 about memory included, and with \`TILE_CACHE_MB=0\`; the others run as Node runs them. "Tiles in memory": a point in each tile has been asked for before.
- Each is one process. They are measured by turns in alternating order, and ratios are taken within a round; figures are medians over the rounds.
- Points a second are answers received in a fixed time, over connections kept alive with one request at a time each. An answer with another status than expected is an error, and fails the run.
- The load generator is a part of the bench, so that everybody has the same: requests are written out beforehand, and it only sends, reads statuses and counts. Beside \`wrk\` with one thread it reached the same rates and latencies on the bare route.`

const CAVEATS = `- The load generator, PostgreSQL and the service share the machine's cores and speak over the loopback interface: a network is slower, and a database on a machine of its own takes nothing from the service.
- The bare route does without what a service cannot do without, so no service reaches 1.
- Clients here wait for an answer before they ask again; latencies of clients that do not wait are higher when a server is near its limit.`

/** Whether the figures can be believed: what else ran took from all of them, but not from all alike. */
function quietLine({ loadBefore, machine }: Results): string {
  const load = `load ${figure(loadBefore)} on ${machine.cores} cores in the minute before`
  return isBusy(loadBefore)
    ? `> **The machine was busy with other work** (${load}): these figures are worth little until they are measured again.`
    : `The machine was quiet: ${load}.`
}

function machineLine({ cpu, cores, memoryGiB, system, node, postgresql, postgis }: Machine): string {
  const database = postgresql ? `, PostgreSQL ${postgresql} with PostGIS ${postgis}` : ''
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB of memory; ${system}; Node ${node}${database}.`
}

function images(...names: string[]): string {
  return names.map((name) => `![${name.replaceAll('-', ' ')}](performance/${name}.svg)`).join('\n\n')
}

function tablesText(tables: Table[]): string {
  return tables.map((table) => `**${table.title}**\n\n${tableText(table)}`).join('\n\n')
}

function tableText({ head, rows }: Table): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function sections(...parts: (string | undefined | false)[]): string {
  return `${parts.filter((part) => part).join('\n\n')}\n`
}
