import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Aggregator, AggregatorRegistry, type MetricObject } from 'prom-client'
import type { Config } from './config.ts'
import type { Cluster } from './data/database.ts'
import { serveScrapes } from './http/metrics/listener.ts'
import { createMetrics, type Metrics } from './http/metrics/metrics.ts'
import { createRegistry } from './http/metrics/registry.ts'
import { doublingPauses, formatError, type Pauses, pauseAfter } from './lib/promises.ts'
import { prepare, seedRest } from './prepare.ts'
import { CLOSE_TIMEOUT_MS, type Running, type Start, showBanner, tellScrapers } from './start.ts'

/**
 * `drain`: readiness turns to 503, and answers end their connections. `end`: the worker listens no more, and ends.
 * `scrape` and `ping` want an answer.
 */
export type ToWorker = 'drain' | 'end' | 'scrape' | 'ping'

/** `settings`: the worker has begun, and wants them. */
export type ToPrimary = 'settings' | 'pong' | MetricObject[]

/** A number of the log, with the process that has it. */
interface Member {
  readonly number: number
  worker?: Worker
  isReady: boolean
  /** It has answered once: it is replaced in any case. */
  wasReady: boolean
  /** Ends soon after the start, in a row. */
  soon: number
  /** Beats since the last ping without an answer. */
  beats: number
}

/** The pauses before a worker is replaced: longer after predecessors that ended soon. */
const PAUSES_MS: Pauses = [0, ...doublingPauses(500, 30_000)]

/** A worker of this age has not ended soon. */
const STEADY_MS = 60_000

/**
 * Pings: missed ones count by beats of this process, not by the clock. On a machine that sleeps no worker misses any.
 */
const PINGS = { everyMs: 1000, untilHanging: 5, untilKilled: 30 }

/** Workers end by themselves before. */
const KILL_AFTER_MS = CLOSE_TIMEOUT_MS + 1000

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

// Workers accept from one socket: connections wait in the kernel, and none is on its way to a process that hangs or ends.
cluster.schedulingPolicy = cluster.SCHED_NONE

/**
 * WORKERS processes; another one replaces each that ends.
 *
 * @param settings of each worker
 */
export function createWorkers(
  count: number,
  settings: object,
  say: (message: string) => void,
  pings = PINGS,
) {
  const members = Array.from({ length: count }, (_, index): Member => {
    return { number: index + 1, isReady: false, wasReady: false, soon: 0, beats: 0 }
  })
  const ready = () => members.filter(({ isReady }) => isReady)
  const own = createMetrics()
  const heartbeat = startHeartbeat(ready, own, say, pings)
  let isRetired = false
  let replaced = 0
  own.observe('agro_workers_replaced_total', () => replaced)
  const scraping = createScraping(ready, own)

  /** @returns the port; undefined where the worker ends before it listens */
  function begin(member: Member): Promise<number | undefined> {
    const began = performance.now()
    return new Promise((resolve) => {
      function end(why: string): void {
        resolve(undefined)
        scraping.left(member)
        Object.assign(member, { worker: undefined, isReady: false })
        if (!isRetired) replace(member, performance.now() - began, why)
      }
      const worker = forkWorker(member.number)
      if (typeof worker === 'string') return end(worker)
      member.worker = worker
      worker.once('exit', (code, signal) => end(signal ?? `code ${code}`))
      // Node also says it of a process that could not be killed: its exit is still to come.
      worker.on('error', ({ message }) => worker.process.pid === undefined && end(message))
      worker.on('message', (message: ToPrimary) => {
        // A message may be read after the end of its worker.
        if (member.worker !== worker) return
        // Not in its environment, which shows secrets.
        if (message === 'settings') worker.send(settings, () => {})
        else if (message === 'pong') heartbeat.answered(member)
        else scraping.answered(member, message)
      })
      worker.once('listening', ({ port }) => {
        Object.assign(member, { isReady: true, wasReady: true, beats: 0 })
        resolve(port)
      })
    })
  }

  function replace(member: Member, livedMs: number, why: string): void {
    if (!member.wasReady) return void say(`worker ${member.number} could not start (${why})`)
    member.soon = livedMs < STEADY_MS ? member.soon + 1 : 1
    const pauseMs = pauseAfter(PAUSES_MS, member.soon)
    const after = pauseMs > 0 ? `after ${pauseMs / 1000} s` : 'at once'
    say(`worker ${member.number} ended (${why}): another one starts ${after}`)
    setTimeout(() => {
      if (isRetired) return
      replaced++
      void begin(member)
    }, pauseMs)
  }

  return {
    /** The port, when all workers answer; undefined after the first that could not start, which has said why. */
    async start(): Promise<number | undefined> {
      const ports = await Promise.all(members.map(begin))
      return ports.includes(undefined) ? undefined : ports[0]
    },
    readMetrics: scraping.read,
    /** Ends all workers after a delay, in which readiness is 503. False where one did not end in order. */
    stop(delayMs: number): Promise<boolean> {
      isRetired = true
      heartbeat.end()
      // A worker that hangs would hold the port open.
      for (const member of members) if (!member.isReady || heartbeat.hangs(member)) kill(member)
      return endAll(ready(), delayMs)
    },
  }
}

function startHeartbeat(ready: () => Member[], own: Metrics, say: (message: string) => void, pings = PINGS) {
  let killed = 0
  const hangs = ({ beats }: Member) => beats > pings.untilHanging
  own.observe('agro_workers_hanging', () => ready().filter(hangs).length)
  own.observe('agro_workers_killed_total', () => killed)

  function beat(member: Member): void {
    const missed = member.beats++
    const silence = `worker ${member.number} has not answered for ${(missed * pings.everyMs) / 1000} s`
    // Not again: a worker that hangs would find a heap of pings.
    if (missed === 0) sendTo(member, 'ping')
    else if (missed === pings.untilHanging) say(`${silence}: it gets no connections`)
    else if (missed === pings.untilKilled) {
      say(`${silence}: it is killed`)
      killed++
      kill(member)
    }
  }

  const timer = setInterval(() => ready().forEach(beat), pings.everyMs)
  return {
    answered(member: Member): void {
      if (hangs(member)) say(`worker ${member.number} answers again`)
      member.beats = 0
    },
    hangs,
    end: () => clearInterval(timer),
  }
}

/** The metrics of all workers and of this process as one. */
function createScraping(ready: () => Member[], metrics: Metrics) {
  const own = createRegistry(metrics)
  const latest = new Map<Member, MetricObject[]>()
  const asked = new Map<Member, () => void>()
  let ofEnded: Promise<MetricObject[]> = Promise.resolve([])

  function scrape(member: Member): Promise<void> {
    return new Promise((resolve) => {
      asked.set(member, resolve)
      setTimeout(resolve, SCRAPE_TIMEOUT_MS).unref()
      sendTo(member, 'scrape')
    })
  }

  return {
    answered(member: Member, metrics: MetricObject[]): void {
      latest.set(member, metrics)
      asked.get(member)?.()
    },
    /** Keeps the counts of a worker that has ended. */
    left(member: Member): void {
      asked.get(member)?.()
      const last = latest.get(member)?.filter(({ type }) => LASTING.includes(String(type)))
      if (!latest.delete(member)) return
      ofEnded = ofEnded.then((others) =>
        AggregatorRegistry.aggregate([others, last ?? []]).getMetricsAsJSON(),
      )
    },
    async read(): Promise<string> {
      await Promise.all(ready().map(scrape))
      const all = [await own.getMetricsAsJSON(), await ofEnded, ...latest.values()]
      // `prom-client` aggregates as for processes that have nothing to do with each other.
      const ofService = all.map((metrics) =>
        metrics.map((metric) => ({ ...metric, aggregator: AGGREGATORS[metric.name] ?? metric.aggregator })),
      )
      return AggregatorRegistry.aggregate(ofService).metrics()
    },
  }
}

/** Its error where no process can be made, as without memory. */
function forkWorker(number: number): Worker | string {
  try {
    return cluster.fork({ WORKER: number })
  } catch (error) {
    return formatError(error)
  }
}

function kill({ worker }: Member): void {
  worker?.process.kill('SIGKILL')
}

/** A worker that is about to end gets no message. */
function sendTo({ worker }: Member, message: ToWorker): void {
  if (worker?.isConnected()) worker.send(message, () => {})
}

async function endAll(members: Member[], delayMs: number): Promise<boolean> {
  // Without a delay, a client that is asked to leave would come back at the moment when no process listens.
  if (delayMs > 0) {
    for (const member of members) sendTo(member, 'drain')
    await sleep(delayMs)
  }
  return (await Promise.all(members.map(endInTime))).every((code) => code === 0)
}

/** @returns the exit code, or undefined after a signal */
function endInTime(member: Member): Promise<number | undefined> {
  const { worker } = member
  return new Promise((resolve) => {
    if (!worker) return resolve(undefined)
    const tooLate = setTimeout(() => worker.process.kill('SIGKILL'), KILL_AFTER_MS)
    worker.once('exit', (code) => {
      clearTimeout(tooLate)
      resolve(code)
    })
    sendTo(member, 'end')
  })
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

/** Runs the service in WORKERS processes. This one answers nothing but scrapes. */
export async function run(
  config: Config,
  database: Cluster,
  { announcer, seconds, opened }: Start,
): Promise<Running> {
  const { say } = announcer
  await opened
  const { synthetic, isSeeding } = await prepare(config, database, say)

  cluster.setupPrimary({
    exec: fileURLToPath(new URL('../bin/run.mjs', import.meta.url)),
    args: [fileURLToPath(new URL('./worker.ts', import.meta.url))],
    // Metrics have numbers that JSON lacks.
    serialization: 'advanced',
  })
  const workers = createWorkers(config.WORKERS, configOfWorker(config), say)
  const port = await workers.start()
  if (port === undefined) process.exit(1)
  const scraped = await serveScrapes(config, workers.readMetrics, (error) =>
    say(`the metrics could not be read: ${formatError(error)}`),
  )
  showBanner(announcer, config, { port, seconds: seconds(), synthetic })
  tellScrapers(announcer, config, scraped)
  const seeding = isSeeding ? seedRest(database, announcer) : undefined
  return {
    async stop() {
      const delayMs = config.SHUTDOWN_DELAY_MS
      // As in a worker: the database may hang.
      const tooLate = sleep(delayMs + CLOSE_TIMEOUT_MS, false)
      const seeded = seeding ? Promise.race([seeding.stop().then(() => true), tooLate]) : true
      const inOrder = await Promise.all([workers.stop(delayMs), seeded])
      process.exit(inOrder.every(Boolean) ? 0 : 1)
    },
  }
}
