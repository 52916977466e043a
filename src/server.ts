import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import type { App } from '#src/http/app.ts'
import { refuseMissingSecret } from '#src/http/jwt-secret.ts'
import { listenForScrapes } from '#src/http/metrics/listener.ts'
import { type Announcer, JSON_ANNOUNCER, TEXT_ANNOUNCER } from '#src/lib/announcer.ts'
import { buildApp } from './app.ts'
import { type Config, loadConfig, loadEnvironmentFile } from './config.ts'
import { type Cluster, type Database, openCluster } from './database/client.ts'
import { damageOf } from './database/damage.ts'
import { isDatabaseUnavailable } from './database/failures.ts'
import { migrate } from './database/migrate.ts'
import { refuseMissingRights } from './database/rights.ts'
import { refuseOlderSchema } from './database/scripts.ts'
import { publishesSynthetic } from './domains/releases/queries.ts'
import { OperatorError } from './errors.ts'
import { seedDemo } from './ingest/demo/seed.ts'
import { summariseCoverages } from './ingest/summarise.ts'

/** What clients are given time for after SHUTDOWN_DELAY_MS. */
const PATIENCE = { idleMs: 1000, busyMs: 5000 }

/** All that comes after SHUTDOWN_DELAY_MS: that, mails that wait, counts that the database is given, its own end. */
const CLOSE_TIMEOUT_MS = 10_000

/** Signals this close together are one: npm passes on a Ctrl-C that the terminal has sent us already. */
const SAME_SIGNAL_MS = 300

const started = Date.now()

let announcer: Announcer = TEXT_ANNOUNCER

// While requests wait for the database, V8 would learn that what they are made of lives long, and from then
// on put it where it is collected once a second instead of a hundred times: each dead request there keeps
// others alive, and a sixth of the time went into copying them.
setFlagsFromString('--no-allocation-site-pretenuring')

/**
 * What SIGTERM and Ctrl-C do. Until there is a service to close in order, the process just ends: to the
 * database that is a crash, which it survives. Without a listener, PID 1 of a container would not end.
 */
let stop = (_signal: string, number: number): void => process.exit(128 + number)
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, (name, number) => stop(name, number))
}

try {
  loadEnvironmentFile()
  // Also what is wrong with the settings is said as they ask for.
  if (process.env.LOG_FORMAT === 'json') announcer = JSON_ANNOUNCER
  await run(loadConfig())
} catch (error) {
  const damage = damageOf(error)
  if (error instanceof OperatorError) announcer.fail(error.message)
  else if (damage) announcer.fail(damage)
  else if (isDatabaseUnavailable(error)) announcer.fail(`The database went away: ${error.message}.`)
  else announcer.crash(error)
  process.exit(1)
}

async function run(config: Config): Promise<void> {
  // A service that cannot start for want of a secret should not have migrated the database.
  refuseMissingSecret(config)
  const cluster = await openCluster(config, say)
  const synthetic = await prepare(config, cluster)
  const database = cluster.connect()
  const app = await buildApp(config, database)
  stop = closeInOrder(app, config, database, cluster)
  const scraped = await listenForScrapes(app)
  // For this name Fastify would listen at two addresses, and only what the first lets in is counted and ended in order.
  const host = config.HOST === 'localhost' ? '127.0.0.1' : config.HOST
  await app.listen({ host, port: config.PORT }).catch(({ message }: Error) => {
    throw new OperatorError(`Cannot listen: ${message}. Set HOST or PORT.`)
  })
  welcome(app, config, synthetic)
  if (scraped) say(`metrics at ${originOf(config.METRICS_HOST, scraped.port)}/metrics`)
}

/**
 * Brings the schema up to date, or sees that it is, and seeds the demo, which may take longer than a request's query.
 *
 * @returns whether synthetic values are published
 */
async function prepare(config: Config, cluster: Cluster): Promise<boolean> {
  const database = cluster.connectForMaintenance()
  try {
    if (config.MIGRATE_ON_START) {
      const applied = await migrate(database.writer, undefined, { progress: say })
      if (applied.length > 0) say(`brought the schema up to date: ${applied.join(', ')}`)
    } else {
      await refuseOlderSchema(database.writer)
    }
    await refuseMissingRights(database.writer)
    await summariseCoverages(database, (done, of) => say(`summarising rasters: ${done} of ${of}`))
    if (config.DEMO_DATA) {
      await seedDemo(database, (done, of) => say(`seeding synthetic demo data: release ${done} of ${of}`))
    }
    return await publishesSynthetic(database.writer)
  } finally {
    await database.close()
  }
}

function welcome(app: App, config: Config, synthetic: boolean): void {
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : config.PORT
  const url = `${originOf(config.HOST, port)}${config.BASE_PATH}`
  announcer.say(`ready in ${((Date.now() - started) / 1000).toFixed(1)} s`, { url })
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

function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * Stops in order: readiness turns to 503 first, so that a load balancer looks elsewhere, and answers say that they
 * are the last of their connections; then requests under way are answered; then what is in memory is given to the
 * database, and that is closed. A second signal ends the process at once.
 */
function closeInOrder(app: App, config: Config, database: Database, cluster: Cluster): typeof stop {
  let firstSignalAt: number | undefined
  return (_signal, number) => {
    if (firstSignalAt === undefined) void close()
    else if (Date.now() - firstSignalAt > SAME_SIGNAL_MS) process.exit(128 + number)
    firstSignalAt ??= Date.now()
  }

  async function close(): Promise<void> {
    say('stopping')
    // Without a delay, who is told to leave would come back at the moment when nobody listens any more.
    if (config.SHUTDOWN_DELAY_MS > 0) {
      app.startDraining()
      await setTimeout(config.SHUTDOWN_DELAY_MS)
    }
    AbortSignal.timeout(CLOSE_TIMEOUT_MS).addEventListener('abort', () => {
      say('the database takes too long to close: ending without')
      process.exit(1)
    })
    const givenUp = await app.endConnections(PATIENCE)
    if (givenUp > 0) say(`requests that took too long were given up: ${givenUp}`)
    await app.close()
    await database.close()
    await cluster.close()
    process.exit(0)
  }
}

function say(message: string): void {
  announcer.say(message)
}
