import nodeCluster from 'node:cluster'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Aggregator, AggregatorRegistry, type MetricObject } from 'prom-client'
import type { Config } from './config.ts'
import type { Cluster } from './data/client.ts'
import { serveScrapes } from './http/metrics/listener.ts'
import { createMetrics } from './http/metrics/metrics.ts'
import { createRegistry } from './http/metrics/registry.ts'
import { acceptWaiting } from './http/plugins/connections.ts'
import { formatError } from './lib/promises.ts'
import {
  CLOSE_TIMEOUT_MS,
  cannotListen,
  prepare,
  type Running,
  readListenAddress,
  readPort,
  type Start,
  showBanner,
  tellScrapers,
} from './start.ts'
import { createWorkerPool, type End, type Member, type WorkerPool } from './workers.ts'

export type Front = Awaited<ReturnType<typeof openFront>>

/**
 * Listens, and hands connections over to the workers by turns. With the distribution of `cluster` the workers listen, and
 * connections on their way to the last one that ends are lost.
 *
 * @throws {OperatorError} where it cannot listen
 */
export async function openFront(config: Config, { ready }: Pick<WorkerPool, 'ready'>) {
  /** Connections that came while no worker was ready. */
  const waiting = new Set<Socket>()
  let turn = 0
  let isClosed = false

  function handOver(socket: Socket): void {
    if (isClosed) return void socket.destroy()
    const members = ready()
    turn++
    const member = members[turn % members.length]
    if (member) member.take(socket)
    else waiting.add(socket)
  }

  // The worker reads what the client sends.
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => {})
    handOver(socket)
  })
  server.maxConnections = config.MAX_CONNECTIONS
  server.listen(readListenAddress(config))
  await once(server, 'listening').catch(cannotListen)
  return {
    port: readPort(server, config),
    handOver,
    /** Hands over the connections that wait for a worker. */
    admit() {
      const sockets = [...waiting]
      waiting.clear()
      for (const socket of sockets) handOver(socket)
    },
    /** Listens no more. */
    async close() {
      await acceptWaiting(server)
      server.close()
      isClosed = true
      for (const socket of waiting) socket.destroy()
    },
  }
}

/** A silent worker is left out of a scrape. */
const SCRAPE_TIMEOUT_MS = 2000

/** Metrics that count on after the end of their worker. */
const LASTING = ['counter', 'histogram']

/** The start of the primary, and the worst delay of all processes. */
const AGGREGATORS: Record<string, Aggregator> = {
  process_start_time_seconds: 'first',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_seconds: 'max',
}

export type Scraping = ReturnType<typeof createScraping>

/** The metrics of all workers and of this process as one. */
export function createScraping(pool: Pick<WorkerPool, 'ready' | 'hanging' | 'killed' | 'replaced'>) {
  const metrics = createMetrics()
  metrics.observe('agro_workers_hanging', pool.hanging)
  metrics.observe('agro_workers_killed_total', pool.killed)
  metrics.observe('agro_workers_replaced_total', pool.replaced)
  const own = createRegistry(metrics)
  const latest = new Map<Member, MetricObject[]>()
  const asked = new Map<Member, () => void>()
  let ofEnded: Promise<MetricObject[]> = Promise.resolve([])

  function scrape(member: Member): Promise<void> {
    return new Promise((resolve) => {
      asked.set(member, resolve)
      setTimeout(resolve, SCRAPE_TIMEOUT_MS).unref()
      member.tell({ kind: 'scrape' })
    })
  }

  return {
    answered(member: Member, metrics: MetricObject[]): void {
      latest.set(member, metrics)
      asked.get(member)?.()
    },
    /** Keeps the counts of a worker that has ended. */
    left(member: Member): void {
      const last = latest.get(member)?.filter(({ type }) => LASTING.includes(String(type)))
      latest.delete(member)
      asked.get(member)?.()
      asked.delete(member)
      if (!last) return
      ofEnded = ofEnded.then((others) => AggregatorRegistry.aggregate([others, last]).getMetricsAsJSON())
    },
    async read(): Promise<string> {
      await Promise.all(pool.ready().map(scrape))
      const all = [await own.getMetricsAsJSON(), await ofEnded, ...latest.values()]
      return AggregatorRegistry.aggregate(all.map((metrics) => metrics.map(asOfService))).metrics()
    },
  }
}

/** `prom-client` aggregates as for processes that have nothing to do with each other. */
function asOfService(metric: MetricObject): MetricObject {
  return { ...metric, aggregator: AGGREGATORS[metric.name] ?? metric.aggregator }
}

/** Fewer would allow one query at a time. */
const LEAST_CONNECTIONS = 3

/** The settings of each worker: limits of the whole service in equal shares. A worker keeps caches for itself. */
function configOfWorker(config: Config): Config {
  const share = (whole: number) => Math.ceil(whole / config.WORKERS)
  return {
    ...config,
    DATABASE_POOL_SIZE: Math.max(LEAST_CONNECTIONS, share(config.DATABASE_POOL_SIZE)),
    DATABASE_QUEUE_LIMIT: share(config.DATABASE_QUEUE_LIMIT),
    MAX_CONNECTIONS: share(config.MAX_CONNECTIONS),
  }
}

/** Workers end by themselves before. */
const KILL_AFTER_MS = CLOSE_TIMEOUT_MS + 1000

/** Runs the service in WORKERS processes. This one answers nothing but scrapes. */
export async function run(config: Config, cluster: Cluster, { announcer, seconds }: Start): Promise<Running> {
  const { say } = announcer
  const synthetic = await prepare(config, cluster, say)
  await cluster.close()

  let front: Front | undefined
  nodeCluster.setupPrimary({
    exec: fileURLToPath(new URL('../bin/run.mjs', import.meta.url)),
    args: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
    serialization: 'advanced',
  })
  const pool = createWorkerPool({
    config: configOfWorker(config),
    workers: config.WORKERS,
    say,
    hear(member, message) {
      if (message.kind === 'metrics') scraping.answered(member, message.metrics)
    },
    left: (member) => scraping.left(member),
    answers: () => front?.admit(),
    returned: (socket) => front?.handOver(socket),
  })
  const scraping = createScraping(pool)
  if (!(await pool.start())) process.exit(1)
  front = await openFront(config, pool)
  const scraped = await serveScrapes(config, scraping.read, (error) =>
    say(`the metrics could not be read: ${formatError(error)}`),
  )
  showBanner(announcer, config, { port: front.port, seconds: seconds(), synthetic })
  tellScrapers(announcer, config, scraped)
  return { stop: () => stopInOrder(pool, front, config) }
}

async function stopInOrder(pool: WorkerPool, front: Front, { SHUTDOWN_DELAY_MS }: Config): Promise<never> {
  const members = pool.retire()
  // Without a delay, a client that is told to leave would come back at the moment when no process listens.
  if (SHUTDOWN_DELAY_MS > 0) {
    for (const member of members) member.tell({ kind: 'drain' })
    await sleep(SHUTDOWN_DELAY_MS)
  }
  await front.close()
  // After the connections that are on their way to it.
  for (const member of members) member.tell({ kind: 'end' })
  const ends = await Promise.all(members.map(endOf))
  process.exit(ends.every(({ code }) => code === 0) ? 0 : 1)
}

async function endOf(member: Member): Promise<End> {
  const tooLate = setTimeout(member.kill, KILL_AFTER_MS)
  return member.ended.finally(() => clearTimeout(tooLate))
}
