import { Socket } from 'node:net'
import { setDefaultHighWaterMark } from 'node:stream'
import type { Registry } from 'prom-client'
import { PRODUCTS } from '#schemas/products/index.ts'
import { buildApp } from './app.ts'
import { serverCluster } from './data/client.ts'
import type { App } from './http/app.ts'
import { SOCKET_BUFFER_BYTES } from './http/server.ts'
import { type Announcer, announcerFor } from './lib/announcer.ts'
import { cacheValue } from './lib/cache.ts'
import { failWith } from './process.ts'
import { endInOrder } from './start.ts'
import type { ToPrimary, ToWorker } from './workers.ts'

/**
 * A worker: it has its settings and connections from the primary, and ends with it. Signals do not stop it.
 */

/** Ctrl-C at a terminal signals all processes: it is for the primary. */
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})

type ToStart = Extract<ToWorker, { kind: 'start' }>

const tell = (message: ToPrimary) => void process.send?.(message)
/** Messages before the start mean nothing. */
let hear: (message: ToWorker, socket: unknown) => void = () => {}

process.on('message', (message: ToWorker, socket: unknown) => {
  if (message.kind !== 'start') return hear(message, socket)
  const announcer = announcerFor(message.config.LOG_FORMAT, message.worker)
  start(message, announcer).catch((error) => failWith(error, announcer))
})
tell({ kind: 'loaded' })

async function start({ config, worker }: ToStart, { say }: Announcer): Promise<void> {
  // A server sets it for its own connections alone.
  setDefaultHighWaterMark(false, SOCKET_BUFFER_BYTES)
  // The primary has tried the connection.
  const database = serverCluster(config.DATABASE_URL as string, config).connect()
  const app = await buildApp(config, database, PRODUCTS, worker)
  await app.ready()
  await app.warmUp()
  // Node checks timeouts of headers from then on, and background jobs start.
  app.server.emit('listening')
  // Only a scrape pays for it.
  const registry = cacheValue('metrics registry', async () =>
    (await import('./http/metrics/registry.ts')).createRegistry(app.metrics),
  )
  hear = (message, socket) => {
    if (message.kind === 'connection') admit(app, socket)
    else if (message.kind === 'drain') app.startDraining()
    else if (message.kind === 'end') void endInOrder(app, database, say)
    else if (message.kind === 'scrape') void scrape(app, registry)
    else if (message.kind === 'ping') tell({ kind: 'pong' })
  }
  tell({ kind: 'ready' })
}

function admit({ server }: App, socket: unknown): void {
  // The client may have gone.
  if (!(socket instanceof Socket)) return
  // A client that sends no more may still read.
  socket.allowHalfOpen = true
  server.emit('connection', socket)
}

async function scrape({ log }: App, registry: () => Promise<Registry>): Promise<void> {
  try {
    tell({ kind: 'metrics', metrics: await (await registry()).getMetricsAsJSON() })
  } catch (error) {
    log.error({ err: error }, 'the metrics could not be read')
  }
}
