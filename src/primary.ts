import nodeCluster from 'node:cluster'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Aggregator, MetricObject } from 'prom-client'
import type { Config } from './config.ts'
import type { Cluster } from './data/client.ts'
import { acceptWaiting } from './http/connections.ts'
import { serveScrapes } from './http/metrics/listener.ts'
import { createMetrics } from './http/metrics/metrics.ts'
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
import { type End, type Member, startWorkerPool, type WorkerPool } from './workers.ts'

/** The one port of a service with workers. */
export interface Front {
  port: number
  /** Hands over the connections that wait for a worker. */
  admit(): void
  /** Hands a connection over once more, which the worker that was to have it has not got. */
  handOver(socket: Socket): void
  /** Listens no more. Accepted connections have been handed over to a worker before. */
  close(): Promise<void>
}

/**
 * Listens, and hands connections over to the workers by turns. `cluster` can do so by itself, but then workers listen:
 * where each of them ends in order, a connection that is on its way to the last of them has nobody left to go to.
 *
 * @param ready the workers that answer. While there is none, connections wait
 * @throws {OperatorError} where it cannot listen
 */
export async function openFront(config: Config, ready: () => Member[]): Promise<Front> {
  const waiting = new Set<Socket>()
  let turn = 0
  let closed = false

  function handOver(socket: Socket): void {
    if (closed) {
      socket.destroy()
      return
    }
    const members = ready()
    if (members.length === 0) {
      waiting.add(socket)
      return
    }
    turn++
    members[turn % members.length]?.take(socket)
  }

  // What a client sends is for the worker to read.
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => {})
    handOver(socket)
  })
  // Those that workers have got do not count here, but with them.
  server.maxConnections = config.MAX_CONNECTIONS
  server.listen(readListenAddress(config))
  await once(server, 'listening').catch(cannotListen)
  return {
    port: readPort(server, config),
    admit() {
      // A connection that finds no worker again waits once more.
      for (const socket of [...waiting]) {
        waiting.delete(socket)
        handOver(socket)
      }
    },
    handOver,
    async close() {
      await acceptWaiting(server)
      server.close()
      closed = true
      for (const socket of waiting) socket.destroy()
    },
  }
}

/** A worker that says nothing for so long is left out of a scrape. */
const PATIENCE_MS = 2000

/** What goes up alone: a worker that has ended has still done it. */
const LASTING = ['counter', 'histogram']

/** Of the first, which is this process, and of the worst. */
const AGGREGATORS: Record<string, Aggregator> = {
  process_start_time_seconds: 'first',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_seconds: 'max',
}

/** The metrics of all workers, and of this process, as one. */
export interface Scraping {
  /** Takes what a worker has answered, unless it has ended. */
  answered(member: Member, metrics: MetricObject[]): void
  /** Keeps what a worker that has ended said the last time. */
  left(member: Member): void
  read(): Promise<string>
}

/** @param worker pool the workers, as soon as all of them have answered */
export async function createScraping(
  workerPool: () => Pick<WorkerPool, 'ready' | 'hanging' | 'killed' | 'replaced'> | undefined,
): Promise<Scraping> {
  const { AggregatorRegistry } = await import('prom-client')
  const { createRegistry } = await import('./http/metrics/registry.ts')
  const metrics = createMetrics()
  metrics.observe('agro_workers_hanging', () => workerPool()?.hanging() ?? 0)
  metrics.observe('agro_workers_killed_total', () => workerPool()?.killed() ?? 0)
  metrics.observe('agro_workers_replaced_total', () => workerPool()?.replaced() ?? 0)
  const own = createRegistry(metrics)
  const latest = new Map<Member, MetricObject[]>()
  const asked = new Map<Member, () => void>()
  const ended = new WeakSet<Member>()
  let ofEnded: Promise<MetricObject[]> = Promise.resolve([])

  function answerOf(member: Member): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS)
      asked.set(member, () => {
        clearTimeout(timer)
        resolve()
      })
      member.tell({ kind: 'scrape' })
    })
  }

  return {
    answered(member, metrics) {
      if (ended.has(member)) return
      latest.set(member, metrics)
      asked.get(member)?.()
    },
    left(member) {
      ended.add(member)
      const last = latest.get(member)?.filter(({ type }) => LASTING.includes(String(type)))
      latest.delete(member)
      asked.get(member)?.()
      asked.delete(member)
      if (!last) return
      // After that of those that ended before, which may be under way.
      ofEnded = ofEnded.then((others) => AggregatorRegistry.aggregate([others, last]).getMetricsAsJSON())
    },
    async read() {
      await Promise.all((workerPool()?.ready() ?? []).map(answerOf))
      const all = [await own.getMetricsAsJSON(), await ofEnded, ...latest.values()]
      return AggregatorRegistry.aggregate(all.map((metrics) => metrics.map(asOfService))).metrics()
    },
  }
}

/** What `prom-client` means for processes that have nothing to do with each other. */
function asOfService(metric: MetricObject): MetricObject {
  return { ...metric, aggregator: AGGREGATORS[metric.name] ?? metric.aggregator }
}

/** With less a worker could do one thing at a time at the database. */
const LEAST_CONNECTIONS = 3

/**
 * The settings of each of several workers: what there may be of something in all, they have equal shares of. What a
 * worker keeps in memory it keeps for itself, and everybody finds it there.
 */
export function configOfWorker(config: Config): Config {
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

/** Handing over what was let in takes milliseconds. */
const SETTLING_MS = 1000

/**
 * Runs the service in WORKERS processes, and answers nothing by itself: it lets connections in and hands them over to
 * workers, starts others where they end, tells them when to stop, and puts their metrics together.
 */
export async function run(config: Config, cluster: Cluster, { announcer, seconds }: Start): Promise<Running> {
  const { say } = announcer
  const synthetic = await prepare(config, cluster, say)
  await cluster.close()

  let workerPool: WorkerPool | undefined
  let front: Front | undefined
  const ready = () => workerPool?.ready() ?? []
  const scraping = await createScraping(() => workerPool)
  nodeCluster.setupPrimary({
    exec: fileURLToPath(new URL('../bin/run.mjs', import.meta.url)),
    args: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
    serialization: 'advanced',
  })
  workerPool = await startWorkerPool({
    config: configOfWorker(config),
    workers: config.WORKERS,
    say,
    answers: () => front?.admit(),
    returned: (socket) => front?.handOver(socket),
    joined: (member) => ({
      hear(message) {
        if (message.kind === 'metrics') scraping.answered(member, message.metrics)
      },
      left: () => scraping.left(member),
    }),
  })
  // It has said why.
  if (!workerPool) process.exit(1)
  front = await openFront(config, ready)
  const scraped = await serveScrapes(config, scraping.read, (error) =>
    say(`the metrics could not be read: ${formatError(error)}`),
  )
  showBanner(announcer, config, { port: front.port, seconds: seconds(), synthetic })
  tellScrapers(announcer, config, scraped)
  return { stop: () => stopInOrder(workerPool, front, config) }
}

async function stopInOrder(
  workerPool: WorkerPool,
  front: Front,
  { SHUTDOWN_DELAY_MS }: Config,
): Promise<never> {
  const members = workerPool.retire()
  // Without a delay, who is told to leave would come back at the moment when nobody listens any more.
  if (SHUTDOWN_DELAY_MS > 0) {
    for (const member of members) member.tell({ kind: 'drain' })
    await sleep(SHUTDOWN_DELAY_MS)
  }
  await front.close()
  // An accepted connection is with a worker before that ends; not for one that hangs.
  await Promise.race([Promise.all(members.map((member) => member.settled())), sleep(SETTLING_MS)])
  for (const member of members) member.tell({ kind: 'end' })
  const ends = await Promise.all(members.map(endOf))
  process.exit(ends.every(({ code }) => code === 0) ? 0 : 1)
}

async function endOf(member: Member): Promise<End> {
  const tooLate = new AbortController()
  void sleep(KILL_AFTER_MS, undefined, { signal: tooLate.signal }).then(member.kill, () => {})
  return member.ended.finally(() => tooLate.abort())
}
