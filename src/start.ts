import type { Server } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { PRODUCTS } from '#schemas/products/index.ts'
import { buildApp } from './app.ts'
import { type Config, findDocumentation } from './config.ts'
import type { Cluster, Database } from './data/database.ts'
import { OperatorError } from './errors.ts'
import type { App } from './http/app.ts'
import { listenForScrapes } from './http/metrics/listener.ts'
import type { Announcer } from './lib/announcer.ts'
import { prepare, seedRest } from './prepare.ts'

/** Of connections after SHUTDOWN_DELAY_MS. */
const TIMEOUTS = { idleMs: 1000, busyMs: 5000 }

/** Of all that comes after SHUTDOWN_DELAY_MS: connections, mails, counts for the database, and its own close. */
export const CLOSE_TIMEOUT_MS = 10_000

/**
 * Ends this process: answers requests under way, writes counts, and closes the database. After a timeout the code is 1.
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
  const givenUp = await app.endConnections(TIMEOUTS)
  if (givenUp > 0) say(`requests that took too long were given up: ${givenUp}`)
  await app.close()
  await database.close()
  process.exit(0)
}

/** Of the two addresses of `localhost` the first: its connections count, and end in order. */
export function readListenAddress({ HOST, PORT }: Config): { host: string; port: number } {
  return { host: HOST === 'localhost' ? '127.0.0.1' : HOST, port: PORT }
}

export function cannotListen({ message }: Error): never {
  throw new OperatorError(`Cannot listen: ${message}. Set HOST or PORT.`)
}

/** The port of a server, also where PORT is 0. */
export function readPort(server: Server, { PORT }: Config): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : PORT
}

export interface Start {
  announcer: Announcer
  /** Since the start. */
  seconds(): number
  /** The database is being opened. */
  opened: Promise<void>
}

export interface Running {
  /**
   * Ends the process in order: readiness turns to 503, and answers end their connections; after SHUTDOWN_DELAY_MS no process
   * listens, and requests under way are answered.
   */
  stop(): Promise<never>
}

export function showBanner(
  announcer: Announcer,
  config: Config,
  { port, seconds, synthetic }: { port: number; seconds: number; synthetic: boolean },
): void {
  const { HOST, BASE_PATH, WORKERS } = config
  const url = `${originOf(HOST, port)}${BASE_PATH}`
  const workers = WORKERS > 1 ? `, with ${WORKERS} workers` : ''
  announcer.say(`ready in ${seconds.toFixed(1)} s${workers}`, { url })
  announcer.show(`
  API   ${url}
  Docs  ${url}${findDocumentation(config) ?? '/openapi.json'}
  Try   curl -X POST '${url}/advisory/fertilizer/point?lat=9.5&lng=38.5&crop=wheat&country_code=eth'
`)
  if (synthetic) {
    announcer.show(
      '  Synthetic demo data are published: made by a formula, not advice. Answers computed from them',
    )
    announcer.show('  say "synthetic": true.\n')
  }
}

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

/** Runs the service in this process, which makes it while the database is opened and prepared. */
export async function run(
  config: Config,
  cluster: Cluster,
  { announcer, seconds, opened }: Start,
): Promise<Running> {
  const { say } = announcer
  const database = cluster.connect()
  const preparing = opened.then(() => prepare(config, cluster, say))
  // A start that fails ends the process, and says why.
  const prepared = preparing.then(
    () => {},
    () => new Promise<void>(() => {}),
  )
  async function build() {
    const app = await buildApp(config, database, PRODUCTS, undefined, prepared)
    const scraped = await listenForScrapes(app)
    await app.ready()
    return { app, scraped }
  }
  const [{ app, scraped }, { synthetic, isSeeding }] = await Promise.all([build(), preparing])
  await app.warmUp()
  await app.listen(readListenAddress(config)).catch(cannotListen)
  showBanner(announcer, config, { port: readPort(app.server, config), seconds: seconds(), synthetic })
  tellScrapers(announcer, config, scraped)
  // The embedded database has one connection.
  const seeding = isSeeding
    ? seedRest(cluster, announcer, database.kind === 'embedded' ? database : undefined)
    : undefined
  return {
    async stop() {
      const seeded = seeding?.stop()
      // Without a delay, a client that is asked to leave would come back when no process listens.
      if (config.SHUTDOWN_DELAY_MS > 0) {
        app.startDraining()
        await setTimeout(config.SHUTDOWN_DELAY_MS)
      }
      const close = async () => {
        await seeded
        await database.close()
        await cluster.close()
      }
      return endInOrder(app, { close }, say)
    },
  }
}
