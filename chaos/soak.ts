/** npm run soak: keeps a service under a mixed load, with accounts and releases that come and go, and sees what grows. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Command, Option } from 'commander'
import { type Cleanup, temporaryFolder, withCleanup } from '#bench/cleanup.ts'
import { askHeld, HELD_MEMORY } from '#bench/held-memory.ts'
import { ask, isSuccess } from '#bench/load/client.ts'
import { freePort } from '#bench/processes.ts'
import { markdownTable } from '#bench/report/markdown-table.ts'
import type { Kind } from './fault.ts'
import { counted } from './judge.ts'
import { client, type Load, learnAnswers, listDistricts, planFor, startLoad } from './load/load.ts'
import type { Asked, Plan } from './load/plan.ts'
import { type Rig, setUp } from './stage.ts'

const MIB = 2 ** 20
/** After each round the account is deleted with all that it has, and another one made. */
const ROUND_MS = 20_000
const SAMPLES = 60
const LEAST_BETWEEN_SAMPLES_MS = 2000

interface Options {
  hours: number
  minutes?: number
  on: Kind
}

async function run(cleanup: Cleanup, { hours, minutes = hours * 60, on }: Options): Promise<boolean> {
  const folder = temporaryFolder(cleanup, 'soak')
  const held = join(folder, 'held')
  const metricsPort = await freePort()
  const rig = await setUp(cleanup, on, {
    METRICS_PORT: `${metricsPort}`,
    NODE_OPTIONS: `--import=${HELD_MEMORY}`,
    HELD_MEMORY_FILE: held,
  })
  if (!rig) throw new Error('there is no PostgreSQL with PostGIS here; try --on embedded')
  const known = await learnAnswers(rig)
  const longestMs = minutes * 60_000
  const churning = churn(cleanup, rig, known, longestMs)
  const samples: Sample[] = []
  const began = performance.now()
  const everyMs = Math.max(LEAST_BETWEEN_SAMPLES_MS, longestMs / SAMPLES)
  for (let next = everyMs; next <= longestMs; next += everyMs) {
    await setTimeout(Math.max(0, began + next - performance.now()))
    samples.push({ at: performance.now() - began, values: await valuesOf(rig, metricsPort, held) })
  }
  const { requests, failures } = await churning
  const growths = growthOf(samples)
  console.log(soakReport(growths))
  console.log(`${requests} requests, of which ${failures.length} failed or were answered wrongly`)
  for (const line of counted(failures, 'these')) console.log(line)
  return growths.every(({ pass }) => pass) && failures.length === 0
}

/** Round after round, with an account of its own and another release. */
async function churn(
  cleanup: Cleanup,
  rig: Rig,
  known: Plan['known'],
  ms: number,
): Promise<{ requests: number; failures: Asked[] }> {
  const load: Load = startLoad(cleanup)
  const districts = await listDistricts(rig.service.port)
  const end = performance.now() + ms
  const failures: Asked[] = []
  let requests = 0
  while (performance.now() < end) {
    const plan = { ...(await planFor(rig.service.port, known)), districts }
    load.begin(plan)
    const { releases } = rig
    await releases?.publish(releases.second)
    await setTimeout(Math.min(ROUND_MS, Math.max(0, end - performance.now())) / 2)
    await releases?.publish(releases.first)
    await setTimeout(Math.min(ROUND_MS, Math.max(0, end - performance.now())) / 2)
    const { asked } = await load.stop()
    requests += asked.length
    failures.push(...asked.filter((one) => !isSuccess(one) || one.wrong !== undefined))
    const { token, email, password } = { ...plan.account, token: plan.account.access_token }
    const body = JSON.stringify({ email, password })
    await ask(client(plan.port, token), { method: 'DELETE', path: '/user/profile', body })
  }
  return { requests, failures }
}

async function valuesOf({ service }: Rig, metricsPort: number, held: string): Promise<Sample['values']> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const metric = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    )
  const { main, threads } = await askHeld(service.pid(), held)
  return {
    'held memory': main,
    'held memory of threads': threads,
    'resident memory': service.memory().resident,
    'tile cache': metric('agro_tile_cache_bytes') / MIB,
    // Clients come and go with what they have to ask.
    'open files': readdirSync(`/proc/${service.pid()}/fd`).length - metric('agro_http_connections'),
    'connections to the database': metric('agro_database_pool_connections'),
    'event-loop delay p99': metric('nodejs_eventloop_lag_p99_seconds') * 1000,
  }
}

/** What a process and its database hold at a moment. */
interface Sample {
  /** Milliseconds since the soak began. */
  at: number
  values: Record<string, number>
}

/** How much a figure may grow, as a line through the second half of the samples says. */
interface Bound {
  figure: string
  unit: string
  /** In an hour. */
  perHour: number
  /** In all, however short the time: what comes and goes. */
  noise: number
}

const BOUNDS: Bound[] = [
  { figure: 'held memory', unit: 'MiB', perHour: 8, noise: 6 },
  // The embedded database's: WebAssembly's memory grows in steps, and never shrinks.
  { figure: 'held memory of threads', unit: 'MiB', perHour: 8, noise: 10 },
  { figure: 'resident memory', unit: 'MiB', perHour: 40, noise: 40 },
  { figure: 'tile cache', unit: 'MiB', perHour: 0, noise: 1 },
  { figure: 'open files', unit: '', perHour: 2, noise: 10 },
  { figure: 'connections to the database', unit: '', perHour: 1, noise: 5 },
  { figure: 'event-loop delay p99', unit: 'ms', perHour: 5, noise: 30 },
]

interface Growth extends Bound {
  first: number
  last: number
  /** By the line, over the second half and in an hour. */
  grown: number
  anHour: number
  /** The most that it may have grown over the second half. */
  most: number
  pass: boolean
}

const HOUR_MS = 3_600_000

/** Holds samples against the bounds. */
function growthOf(samples: Sample[]): Growth[] {
  const half = samples.slice(Math.floor(samples.length / 2))
  const hours = ((half.at(-1) as Sample).at - (half[0] as Sample).at) / HOUR_MS
  return BOUNDS.map((bound) => {
    const values = (list: Sample[]) => list.map(({ values }) => values[bound.figure] as number)
    const anHour = slope(
      half.map(({ at }) => at / HOUR_MS),
      values(half),
    )
    const grown = anHour * hours
    const most = Math.max(bound.perHour * hours, bound.noise)
    const [first, last] = [values(samples)[0] as number, values(samples).at(-1) as number]
    return { ...bound, first, last, grown, anHour, most, pass: grown <= most }
  })
}

/** Of the line with the least squares. */
function slope(xs: number[], ys: number[]): number {
  const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / list.length
  const [x, y] = [mean(xs), mean(ys)]
  const spread = xs.reduce((sum, value) => sum + (value - x) ** 2, 0)
  return spread === 0
    ? 0
    : xs.reduce((sum, value, index) => sum + (value - x) * ((ys[index] as number) - y), 0) / spread
}

/** The report as a table of Markdown. */
function soakReport(growths: Growth[]): string {
  const rows = growths.map(({ figure, unit, first, last, grown, most, pass }) => [
    figure,
    told(first, unit),
    told(last, unit),
    told(grown, unit),
    told(most, unit),
    pass ? 'passed' : 'FAILED',
  ])
  const head = ['figure', 'at first', 'at last', 'grown in the second half', 'may grow by', '']
  return markdownTable(head, rows)
}

function told(value: number, unit: string): string {
  return `${value.toFixed(1)}${unit && ` ${unit}`}`
}

const options = new Command('npm run soak --')
  .description('Keep a service under a mixed load, and see whether anything grows. Needs Linux.')
  .option('--hours <number>', 'how long', Number, 1)
  .option('--minutes <number>', 'how long, instead', Number)
  .addOption(
    new Option('--on <database>', 'which database').choices(['server', 'embedded']).default('server'),
  )
  .parse()
  .opts<Options>()
process.exitCode = (await withCleanup((cleanup) => run(cleanup, options))) ? 0 : 1
process.exit()
