/** Restarts two processes of the service one after the other, and counts the requests that fail meanwhile. */
import { Command, Option } from 'commander'
import { type Cleanup, withCleanup } from '#bench/cleanup.ts'
import { openDatabaseServer } from '#bench/postgres.ts'
import type { Server } from '#bench/processes.ts'
import { startService } from '#bench/service.ts'
import { type Balancer, startBalancer } from './balancers.ts'
import { learnAnswers, planFor } from './load/load.ts'
import { judgePhases } from './phases.ts'
import { type Replica, restartByTurns } from './rolling.ts'
import { startTraffic } from './traffic.ts'

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
  const plan = await planFor(
    ports[0] as number,
    await learnAnswers({ service: { port: ports[0] as number } }),
  )

  console.log(`through ${through}, SHUTDOWN_DELAY_MS=${delay}, ${clients} clients, ${restarts} restarts`)
  const phases = [{ name: 'processes are restarted by turns', from: Date.now() }]
  const traffic = startTraffic(plan, asked, clients)
  const stops = await restartByTurns(replicas, restarts, SETTLE_MS)
  const mistakes = await judgePhases(phases, plan, await traffic.stop())
  for (const mistake of mistakes) console.log(`FAILED: ${mistake}`)

  const slowest = Math.max(...stops.map(({ ms }) => ms))
  const unclean = stops.filter(({ code, ms }) => code !== 0 || ms > delay + LONGEST_STOP_MS).length
  console.log(`stops: ${unclean} too long or not with code 0; the longest ${(slowest / 1000).toFixed(1)} s`)
  return mistakes.length + unclean === 0
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
