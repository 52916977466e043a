import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { figure } from '../limits.ts'
import { isBusy, type Machine } from '../machine.ts'
import type { Results } from '../results.ts'
import { CALL_NAMES, limitsTable, pointsTables, processTable, type Table } from './tables.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const FOLDER = new URL('performance/', DOCS)

/** The results that the page was made from. */
export function publishedResults(): Results {
  return JSON.parse(readFileSync(new URL('results.json', FOLDER), 'utf8'))
}

/** Writes docs/performance.md, and the results that it is made from. */
export function writeReport(results: Results): void {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(new URL('results.json', FOLDER), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(new URL('performance.md', DOCS), performancePage(results))
}

/** docs/performance.md: text and figures, made from the results of one run. */
export function performancePage(results: Results): string {
  const { points, calls, workers, batch, polygons, bulk, fields, growth, history, loads, embedded, answers } =
    results
  return sections(
    '# Performance',
    `<!-- Made by \`npm run bench -- --report\` from performance/results.json: do not edit. -->`,
    `One process of the service, measured on ${results.at.slice(0, 10)} in one ${results.mode} run, beside a [bare Fastify route and one query a request](#how-it-is-measured). [results.json](performance/results.json) has all figures.`,
    quietLine(results),
    '## Repeat it',
    `\`npm run bench\` takes 20 GB of disk; [CONTRIBUTING.md](../CONTRIBUTING.md#measure-it) has the options. The bench starts Debian's PostgreSQL with \`fsync = off\`. Data come from the folder \`BENCH_DATA\`, or are generated in the same size. Run nothing else meanwhile.`,
    '## The machine',
    machineLine(results.machine),
    '## Limits',
    LIMITS,
    tableText(limitsTable(results)),
    answers &&
      `On each of ${answers.paths.length} paths ${figure(answers.points)} points were answered and compared with the rasters. Answers that differed: ${answers.different}.`,
    points && '## Points',
    points &&
      `\`POST /advisory/fertilizer/point\` has 8 values an answer. Its ${figure(results.data.tiles ?? 0)} tiles are of ${results.data.description}. "Uniform" and "Zipf" points have values; "anywhere" covers the whole extent, also without values.`,
    points && tablesText(pointsTables(results).slice(0, 1)),
    calls && '## Other calls',
    calls && callsLine(calls),
    workers && '## Workers',
    workers && workersLine(workers),
    batch && '## Many points in one call',
    batch && batchLine(batch),
    polygons && '## Polygons',
    polygons && polygonsLine(polygons),
    bulk &&
      `\`POST /advisory/fertilizer/polygons\` answered ${figure(bulk.fields)} new fields of 1 ha as NDJSON in ${figure(bulk.fieldsCold)} ms.`,
    fields &&
      `A saved collection of ${figure(fields.fields)} fields is answered in ${figure(fields.first)} ms for the first time, ${figure(fields.again)} ms later, and ${figure(fields.next)} ms on the next release of the grid. Meanwhile the p99 of points is ${figure(fields.p99Beside)} ms, alone ${figure(fields.p99Quiet)} ms.`,
    growth && '## Growth',
    growth && growthLine(growth),
    history && '## Large histories',
    history && historyLine(history),
    '## Loads',
    loads && loadsLine(loads),
    LOADS_BEFORE,
    embedded && '## The embedded database',
    embedded && embeddedLine(embedded),
    '## Start-up and memory',
    ...processTable(results).map(tableText),
    '## How it is measured',
    HOW,
    `The load generator used at most ${figure(results.generatorLoad)} of a core.`,
  )
}

const LIMITS = `A run fails on errors under load and on differing answers. \`--strict\` also fails on a missed **limit** (MISSED); a **goal** fails nothing. An empty last cell means met. [Histories](#large-histories) have more limits.`

/** Measured once, by turns: a clone may lack that version, so no run repeats it. */
const LOADS_BEFORE = `By turns, a release of 8 layers took 0.79 of the CPU of 259da61c, embedded 0.68, in about the same time (2026-11-30).`

const HOW = `- **bare Fastify route**: the same schemas, a constant answer, no plugins.
- **one query a request**: the same route with one prepared query of ST_Value a layer, over the table of \`raster2pgsql -t 32x32 -I\`; 10 connections. **One query, the service's tiles** reads the service's tables instead. The limit refers to the first.
- **service**: \`npm start\` with default settings, and with \`TILE_CACHE_MB=0\`. "Tiles in memory": each tile has answered a point before.
- Targets alternate; ratios are taken within a round, figures are medians of rounds. Points a second are answers over kept-alive connections.
- Load generator, PostgreSQL and service share the cores.`

function workersLine({ rows, costs = [] }: NonNullable<Results['workers']>): string {
  const rates = rows.map(
    ({ workers, rate, p99 }) => `${workers}: ${figure(rate)} points/s, p99 ${figure(p99)} ms`,
  )
  const cpu = costs.map(({ workers, cpu }) => `${figure(cpu)} us with ${workers}`)
  const cost = cpu.length > 0 ? ` CPU a point, with a request a core under way: ${cpu.join(', ')}.` : ''
  return `\`WORKERS\` on two cores, one of which the load generator may use: ${rates.join('; ')}.${cost}`
}

function callsLine({ connections, rows, allProductsCost }: NonNullable<Results['calls']>): string {
  const rates = rows.map(({ call, rate, p99 }) => `${CALL_NAMES[call]} ${figure(rate)}, ${figure(p99)}`)
  return `Calls a second and p99 in ms over ${connections} connections, tiles in memory, points with a key or a token kept: ${rates.join('; ')}. A call for all products costs ${figure(allProductsCost)} of a call for each.`
}

function batchLine({ points, rows }: NonNullable<Results['batch']>): string {
  const rates = rows
    .filter(({ target }) => target === 'memory')
    .map(({ form, coding, pointsPerSecond }) => `${figure(pointsPerSecond)} as ${form} (${coding})`)
  return `\`POST /advisory/fertilizer/points\` with a token and ${figure(points)} points, one call at a time, tiles in memory; points/s: ${rates.join(', ')}.`
}

function embeddedLine({ cells }: NonNullable<Results['embedded']>): string {
  const rates = cells.map(
    ({ connections, rate, p99 }) => `${figure(rate)}, ${figure(p99)} with ${connections}`,
  )
  return `Points a second and p99 in ms, by connections: ${rates.join('; ')}.`
}

function polygonsLine({ zones, shapes }: NonNullable<Results['polygons']>): string {
  const rangeOf = (values: number[]) => `${figure(Math.min(...values))} to ${figure(Math.max(...values))}`
  const sizes = `${rangeOf(shapes.map(({ areaKm2 }) => areaKm2))} km2 with a boundary of ${rangeOf(shapes.map(({ boundaryKm }) => boundaryKm))} km`
  return `\`POST /advisory/fertilizer\` with a token, one request at a time, all 8 layers; [limits](#limits) has the median of ${zones} zones. Stars of ${sizes} take ${rangeOf(shapes.map(({ ms }) => ms))} ms.`
}

function growthLine({ description, rows }: NonNullable<Results['growth']>): string {
  const most = Math.max(...rows.map(({ releases }) => releases))
  const ratios = rows.filter(({ releases }) => releases === most).map(({ growth }) => growth)
  return `${description} With ${most} releases the p50 is ${figure(Math.min(...ratios))} to ${figure(Math.max(...ratios))} of that with one.`
}

function historyLine({ large, small, rows }: NonNullable<Results['history']>): string {
  const times = rows.map(({ times }) => times)
  return `${rows.length} kinds of calls, of an account with ${figure(large.itemsOfAccount)} of ${figure(large.items)} items, take ${figure(Math.min(...times))} to ${figure(Math.max(...times))} times as long as with ${figure(small.itemsOfAccount)} of ${figure(small.items)}. The limit is 1.5 times, a goal for statistics of all. The larger history takes ${figure(large.gigabytes)} GB in ${large.months} partitions. Deletions are of that account, and of three with a fortieth of the items.`
}

function loadsLine({ rows }: NonNullable<Results['loads']>): string {
  const costs = rows.map(({ target, node, database, seconds }) => {
    const ofServer = database === null ? '' : `, ${figure(database)} of PostgreSQL`
    return `${target} ${figure(node)}${ofServer}, in ${figure(seconds)} s`
  })
  return `Seconds of CPU of a release of 8 layers: ${costs.join('; ')}.`
}

/** Whether the figures can be believed: what else ran took from all of them, but not from all alike. */
function quietLine({ loadBefore, machine }: Results): string {
  const load = `load ${figure(loadBefore)} on ${machine.cores} cores in the minute before`
  return isBusy(loadBefore)
    ? `> **The machine was busy with other work** (${load}). Measure again before relying on these figures.`
    : `The machine was quiet: ${load}.`
}

function machineLine({ cpu, cores, memoryGiB, system, node, postgresql, postgis }: Machine): string {
  const database = postgresql ? `, PostgreSQL ${postgresql} with PostGIS ${postgis}` : ''
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB of memory; ${system}; Node ${node}${database}.`
}

function tablesText(tables: Table[]): string {
  return tables.map((table) => `**${table.title}**\n\n${tableText(table)}`).join('\n\n')
}

function tableText({ head, rows }: Table): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function sections(...parts: (string | undefined | false)[]): string {
  return `${parts.filter((part) => part).join('\n\n')}\n`
}
