import type { Server } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { buildApp } from './app.ts'
import { publishesSynthetic } from './catalog/release-queries.ts'
import type { Config } from './config.ts'
import type { Cluster, Database } from './data/client.ts'
import { migrate } from './data/migrate.ts'
import { refuseMissingRights } from './data/rights.ts'
import { refuseOlderSchema } from './data/schema-state.ts'
import { OperatorError } from './errors.ts'
import { createMonthsAhead } from './history/queries.ts'
import type { App } from './http/app.ts'
import { listenForScrapes } from './http/metrics/listener.ts'
import { seedDemo } from './ingest/demo/seed.ts'
import { summariseCoverages } from './ingest/pixel-writing.ts'
import type { Announcer } from './lib/announcer.ts'

/** What clients are given time for after SHUTDOWN_DELAY_MS. */
const PATIENCE = { idleMs: 1000, busyMs: 5000 }

/** All that comes after SHUTDOWN_DELAY_MS: that, mails that wait, counts that the database is given, its own end. */
export const CLOSE_TIMEOUT_MS = 10_000

/**
 * Ends this process in order: requests under way are answered; then what is in memory is given to the database, and
 * that is closed. Where that takes too long it ends without, with code 1.
 *
 * @param say tells what was given up
 */
export async function endInOrder(
  app: App,
  database: Pick<Database, 'close'>,
  say: (message: string) => void,
): Promise<never> {
  AbortSignal.timeout(CLOSE_TIMEOUT_MS).addEventListener('abort', () => {
    say('the database takes too long to close: ending without')
    process.exit(1)
  })
  const givenUp = await app.endConnections(PATIENCE)
  if (givenUp > 0) say(`requests that took too long were given up: ${givenUp}`)
  await app.close()
  await database.close()
  process.exit(0)
}

/** Where to listen. For `localhost` there are two addresses, and only what the first lets in is counted and ended in order. */
export function readListenAddress({ HOST, PORT }: Config): { host: string; port: number } {
  return { host: HOST === 'localhost' ? '127.0.0.1' : HOST, port: PORT }
}

/** @throws {OperatorError} which says why a server cannot listen */
export function cannotListen({ message }: Error): never {
  throw new OperatorError(`Cannot listen: ${message}. Set HOST or PORT.`)
}

/** The port that a server listens at, which is another one than is set where that is 0. */
export function readPort(server: Server, { PORT }: Config): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : PORT
}

/**
 * Brings the schema up to date, or sees that it is, and seeds the demo, which may take longer than a request's query.
 *
 * @returns whether synthetic values are published
 */
export async function prepare(
  config: Config,
  cluster: Cluster,
  say: (message: string) => void,
): Promise<boolean> {
  const database = cluster.connectForMaintenance()
  try {
    if (config.MIGRATE_ON_START) {
      const applied = await migrate(database.writer, undefined, { progress: say })
      const { length: steps } = applied
      if (steps > 0) say(`Database prepared (${steps} ${steps === 1 ? 'step' : 'steps'})`)
    } else {
      await refuseOlderSchema(database.writer)
    }
    await refuseMissingRights(database.writer)
    await createMonthsAhead(database.writer)
    await summariseCoverages(database, (done, of) => say(`summarising rasters: ${done} of ${of}`))
    if (config.DEMO_DATA) {
      await seedDemo(database, (done, of) => say(`seeding synthetic demo data: release ${done} of ${of}`))
    }
    return await publishesSynthetic(database.writer)
  } finally {
    await database.close()
  }
}

/** What a start of the service is told with. */
export interface Start {
  announcer: Announcer
  /** How long it has taken so far. */
  seconds(): number
}

/** The service, as far as its process has a say in it. */
export interface Running {
  /**
   * Stops in order, and ends the process: readiness turns to 503 first, so that a load balancer looks elsewhere, and
   * answers say that they are the last of their connections; after SHUTDOWN_DELAY_MS no process listens, requests
   * under way are answered, and what is in memory is given to the database.
   */
  stop(): Promise<never>
}

/** Says where the service is and what to try. */
export function showBanner(
  announcer: Announcer,
  { HOST, BASE_PATH, WORKERS }: Config,
  { port, seconds, synthetic }: { port: number; seconds: number; synthetic: boolean },
): void {
  const url = `${originOf(HOST, port)}${BASE_PATH}`
  const workers = WORKERS > 1 ? `, with ${WORKERS} workers` : ''
  announcer.say(`ready in ${seconds.toFixed(1)} s${workers}`, { url })
  announcer.show(`
  API   ${url}
  Docs  ${url}/docs
  Try   curl -X POST '${url}/advisory/fertilizer/point?lat=9.5&lng=38.5&crop=wheat&country_code=eth'
`)
  if (synthetic) {
    announcer.show(
      '  Synthetic demo data are published: made by a formula, not advice. Answers computed from them',
    )
    announcer.show('  say "synthetic": true.\n')
  }
}

/** Says where the metrics are, where they are served. */
export function tellScrapers(
  announcer: Announcer,
  { METRICS_HOST }: Config,
  scraped: { port: number } | undefined,
): void {
  if (scraped) announcer.say(`metrics at ${originOf(METRICS_HOST, scraped.port)}/metrics`)
}

function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Runs the service in this process. */
export async function run(config: Config, cluster: Cluster, { announcer, seconds }: Start): Promise<Running> {
  const { say } = announcer
  const synthetic = await prepare(config, cluster, say)
  const database = cluster.connect()
  const app = await buildApp(config, database)
  const scraped = await listenForScrapes(app)
  await app.warmUp()
  await app.listen(readListenAddress(config)).catch(cannotListen)
  showBanner(announcer, config, { port: readPort(app.server, config), seconds: seconds(), synthetic })
  tellScrapers(announcer, config, scraped)
  return {
    async stop() {
      // Without a delay, who is told to leave would come back at the moment when nobody listens any more.
      if (config.SHUTDOWN_DELAY_MS > 0) {
        app.startDraining()
        await setTimeout(config.SHUTDOWN_DELAY_MS)
      }
      const close = () => database.close().then(cluster.close)
      return endInOrder(app, { close }, say)
    },
  }
}
