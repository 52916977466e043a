/** npm run bench: measures the service, prints tables and writes bench/results/latest.json. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { formatTable } from '#src/cli/table.ts'
import { type Bench, choosePlaces, type Effort, say } from './bench.ts'
import { type Cleanup, temporaryFolder, withCleanup } from './cleanup.ts'
import { judge } from './limits.ts'
import { startGenerator } from './load/generator.ts'
import { describeMachine, isBusy, loadBefore } from './machine.ts'
import { type Options, readOptions } from './options.ts'
import { type DatabaseServer, openDatabaseServer } from './postgres.ts'
import { prepareData } from './rasters/data.ts'
import { publishedResults, writeReport } from './report/page.ts'
import { allTables } from './report/tables.ts'
import type { Results } from './results.ts'
import { measureOnEmbedded } from './sections/embedded.ts'
import { measureOnServer } from './sections/on-server.ts'

const RESULTS = new URL('results/latest.json', import.meta.url)

const QUICK: Effort = {
  mode: 'quick',
  seconds: 0.5,
  rounds: 1,
  roundsOfLimits: 3,
  loads: [
    { spread: 'uniform', connections: [1, 64] },
    { spread: 'zipf', connections: [64] },
  ],
  batchCalls: 1,
  publicationSeconds: 5,
}
const FULL: Effort = {
  mode: 'full',
  seconds: 2,
  rounds: 3,
  roundsOfLimits: 9,
  loads: [
    { spread: 'uniform', connections: [1, 16, 64, 256] },
    { spread: 'zipf', connections: [16, 64] },
    { spread: 'anywhere', connections: [64] },
  ],
  batchCalls: 3,
  publicationSeconds: 10,
}

async function prepare(cleanup: Cleanup, { quick }: Options): Promise<Bench> {
  const folder = temporaryFolder(cleanup, 'bench')
  const generator = startGenerator(cleanup)
  say('reading the rasters')
  const data = await prepareData(folder, quick)
  return {
    cleanup,
    effort: quick ? QUICK : FULL,
    folder,
    data,
    generator,
    places: await choosePlaces(data, generator),
    generatorLoad: 0,
    problems: [],
  }
}

async function measure(
  bench: Bench,
  server: DatabaseServer | undefined,
  load: number,
  options: Options,
): Promise<Results> {
  const results: Results = {
    at: new Date().toISOString(),
    mode: bench.effort.mode,
    machine: describeMachine(server?.versions),
    loadBefore: load,
    data: { description: bench.data.description, tiles: null },
    generatorLoad: 0,
    problems: bench.problems,
  }
  if (server) await measureOnServer(bench, server, options, results)
  await measureOnEmbedded(bench, options.only, results)
  results.generatorLoad = bench.generatorLoad
  return results
}

async function run(cleanup: Cleanup, options: Options): Promise<void> {
  const load = await loadBefore(say)
  if (isBusy(load)) say(`this machine is busy (load ${load.toFixed(1)}): the figures will be worth little`)
  const server = await openDatabaseServer(cleanup)
  if (!server) {
    say('there is no PostgreSQL with PostGIS here: only the embedded database is measured')
    say('install it, or name a server on which databases may be made in BENCH_DATABASE_URL')
  }
  const results = await measure(await prepare(cleanup, options), server, load, options)
  say('measured')
  mkdirSync(new URL('.', RESULTS), { recursive: true })
  writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`)
  for (const { title, head, rows } of allTables(results))
    console.log(`\n${title}\n\n${formatTable(head, rows)}`)
  if (options.report) writeReport(results)
  for (const problem of results.problems) console.error(`\nbench: PROBLEM: ${problem}`)
  const missed = judge(results).filter(({ verdict }) => verdict === 'MISSED')
  process.exitCode = results.problems.length > 0 || (options.strict && missed.length > 0) ? 1 : 0
}

const options = readOptions(process.argv.slice(2))
if (options.redraw) writeReport(publishedResults())
else await withCleanup((cleanup) => run(cleanup, options))
