/** Restarts two processes of the service one after the other, and counts the requests that fail meanwhile. */
import { Command, Option } from 'commander'
import { type Cleanup, withCleanup } from '#bench/cleanup.ts'
import { openDatabaseServer } from '#bench/postgres.ts'
import type { Server } from '#bench/processes.ts'
import { startService } from '#bench/service.ts'
import { type Balancer, startBalancer } from './balancers.ts'
import { keptOf, questionsOn } from './questions.ts'
import { type Replica, restartByTurns, type Stop } from './rolling.ts'
import { startTraffic, type Tally } from './traffic.ts'

interface Options {
  through: Balancer | 'direct'
  restarts: number
  delay: number
  clients: number
}

/** Balancers need a second to find out that a process is back. */
const SETTLE_MS = 2000

/** What the service promises to end in, beside its delay. */
const LONGEST_STOP_MS = 10_000

const { through, restarts, delay, clients } = new Command('chaos/rolling-restarts.ts')
  .description('Restart two processes of the service one after the other under load.')
  .addOption(
    new Option('--through <what>', 'what is between')
      .choices(['haproxy', 'nginx', 'direct'])
      .default('direct'),
  )
  .option('--restarts <number>', 'how many', Number, 10)
  .option('--delay <milliseconds>', 'SHUTDOWN_DELAY_MS', Number, 0)
  .option('--clients <number>', 'how many ask at a time', Number, 16)
  .parse()
  .opts<Options>()

process.exitCode = (await withCleanup(run)) ? 0 : 1

async function run(cleanup: Cleanup): Promise<boolean> {
  const server = await openDatabaseServer(cleanup)
  if (!server) throw new Error('there is no PostgreSQL with PostGIS; set BENCH_DATABASE_URL')
  const url = await server.createDatabase('rolling_restarts')
  const replicas = [await startReplica(cleanup, url), await startReplica(cleanup, url)]
  const ports = replicas.map(({ port }) => port)
  const asked = through === 'direct' ? ports : [await startBalancer(cleanup, through, ports)]
  const questions = await questionsOn(ports[0] as number)

  const traffic = startTraffic(asked, questions, clients)
  const stops = await restartByTurns(replicas, restarts, SETTLE_MS)
  const tally = await traffic.stop()
  const kept = await keptOf({ port: ports[0] as number, token: questions.at(-1)?.token })
  return report(tally, stops, kept)
}

async function startReplica(cleanup: Cleanup, url: string): Promise<Replica> {
  const settings = { DEMO_DATA: 'true', LOG_LEVEL: 'error', SHUTDOWN_DELAY_MS: String(delay) }
  const start = (PORT: number) =>
    startService(cleanup, { DATABASE_URL: url }, { ...settings, PORT: String(PORT) })
  let server: Server = await start(0)
  const { port } = server
  return {
    port,
    stop: () => server.stop().then(() => server.ended),
    async start() {
      server = await start(port)
    },
  }
}

/** @returns whether all is well */
function report({ right, failures }: Tally, stops: Stop[], kept: number): boolean {
  const answered = [...right.values()].reduce((sum, count) => sum + count, 0)
  const slowest = Math.max(...stops.map(({ ms }) => ms))
  const unclean = stops.filter(({ code, ms }) => code !== 0 || ms > delay + LONGEST_STOP_MS).length
  const lost = Math.max(0, (right.get('kept point') ?? 0) - kept)
  console.log(`through ${through}, SHUTDOWN_DELAY_MS=${delay}, ${clients} clients, ${restarts} restarts`)
  console.log(`  requests    ${answered + failures.length}`)
  console.log(`  failed      ${failures.length}`)
  const reasons = new Map<string, number>()
  for (const { reason } of failures) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  for (const [reason, count] of reasons) console.log(`    ${count} ${reason}`)
  console.log(`  lost        ${lost} of ${right.get('kept point') ?? 0} that were acknowledged`)
  console.log(
    `  stops       ${unclean} too long or not with code 0; the longest ${(slowest / 1000).toFixed(1)} s`,
  )
  return failures.length + lost + unclean === 0
}
