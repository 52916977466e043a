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
 * A process of a service with several: it answers over connections that the primary has let in, and has its settings
 * from there. It stops when it is told to, whatever signals there are, and ends with the primary.
 */

/** Those for the whole group of processes, as Ctrl-C at a terminal, are for the primary. */
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})

type ToStart = Extract<ToWorker, { kind: 'start' }>

const tell = (message: ToPrimary) => void process.send?.(message)
/** What the primary tells before there is a service is about nothing that is there. */
let hear: (message: ToWorker, socket: unknown) => void = () => {}

process.on('message', (message: ToWorker, socket: unknown) => {
  if (message.kind !== 'start') return hear(message, socket)
  const announcer = announcerFor(message.config.LOG_FORMAT, message.worker)
  start(message, announcer).catch((error) => failWith(error, announcer))
})
tell({ kind: 'loaded' })

async function start({ config, worker }: ToStart, { say }: Announcer): Promise<void> {
  // For connections that this process lets in the server says it.
  setDefaultHighWaterMark(false, SOCKET_BUFFER_BYTES)
  // Nothing is asked before the first request: the primary has tried the connection.
  const database = serverCluster(config.DATABASE_URL as string, config).connect()
  const app = await buildApp(config, database, PRODUCTS, worker)
  await app.ready()
  await app.warmUp()
  // Node watches over headers from then on, and the service begins what it does in the background.
  app.server.emit('listening')
  // Who does not look at the service from outside does not pay for it.
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

/** Has the server answer over a connection as if it had let it in. */
function admit({ server }: App, socket: unknown): void {
  // A client may have gone on the way here.
  if (!(socket instanceof Socket)) return
  // Who sends no more may still read.
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
