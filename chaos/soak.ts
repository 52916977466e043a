/** npm run soak: keeps a service under a mixed load, with accounts and releases that come and go, and sees what grows. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Command, Option } from 'commander'
import { HELD_MEMORY, heldBytes } from '#abuse/targets.ts'
import { type Cleanup, temporaryFolder, withCleanup } from '#bench/cleanup.ts'
import { ask } from '#bench/client.ts'
import { freePort } from '#bench/processes.ts'
import type { Kind } from './fault.ts'
import { counted } from './judge.ts'
import { client, type Load, learnAnswers, planFor, startLoad } from './load/load.ts'
import type { Asked, Plan } from './load/plan.ts'
import { growthOf, type Sample, soakReport } from './soak-figures.ts'
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
  const end = performance.now() + ms
  const failures: Asked[] = []
  let requests = 0
  while (performance.now() < end) {
    const plan = await planFor(rig.service.port, known)
    load.begin(plan)
    const { releases } = rig
    await releases?.publish(releases.second)
    await setTimeout(Math.min(ROUND_MS, Math.max(0, end - performance.now())) / 2)
    await releases?.publish(releases.first)
    await setTimeout(Math.min(ROUND_MS, Math.max(0, end - performance.now())) / 2)
    const { asked } = await load.stop()
    requests += asked.length
    failures.push(...asked.filter(({ status, wrong }) => wrong !== undefined || status < 200 || status > 299))
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
  return {
    'held memory': (await heldBytes(service.pid(), held)) / MIB,
    'resident memory': service.memory().resident,
    'tile cache': metric('agro_tile_cache_bytes') / MIB,
    // Clients come and go with what they have to ask.
    'open files': readdirSync(`/proc/${service.pid()}/fd`).length - metric('agro_http_connections'),
    'connections to the database': metric('agro_database_pool_connections'),
    'event-loop delay p99': metric('nodejs_eventloop_lag_p99_seconds') * 1000,
  }
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
