import { once } from 'node:events'
import type { Registry } from 'prom-client'
import { PRODUCTS } from '#schemas/products/index.ts'
import { buildApp } from './app.ts'
import type { Config } from './config.ts'
import { serverCluster } from './data/client.ts'
import { announcerFor } from './lib/announcer.ts'
import { cacheValue } from './lib/cache.ts'
import type { ToPrimary, ToWorker } from './primary.ts'
import { failWith } from './process.ts'
import { cannotListen, endInOrder, readListenAddress } from './start.ts'

/**
 * A worker: it has its settings from the primary, and ends with it. Signals do not stop it: Ctrl-C at a terminal signals all
 * processes.
 */

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})

process.send?.('settings' satisfies ToPrimary)
const [config] = (await once(process, 'message')) as [Config]
const number = Number(process.env.WORKER)
const announcer = announcerFor(config.LOG_FORMAT, number)
const send = (message: ToPrimary) => void process.send?.(message)

async function start(): Promise<void> {
  // The primary has tried the connection.
  const database = serverCluster(config.DATABASE_URL as string, config).connect()
  const app = await buildApp(config, database, PRODUCTS, number)
  // Only a scrape pays for it.
  const registry = cacheValue(
    'metrics registry',
    async (): Promise<Registry> => (await import('./http/metrics/registry.ts')).createRegistry(app.metrics),
  )
  async function scrape(): Promise<void> {
    try {
      send(await (await registry()).getMetricsAsJSON())
    } catch (error) {
      app.log.error({ err: error }, 'the metrics could not be read')
    }
  }
  // A message without a listener is lost.
  process.on('message', (message: ToWorker) => {
    if (message === 'drain') app.startDraining()
    else if (message === 'end') void endInOrder(app, database, announcer.say)
    else if (message === 'scrape') void scrape()
    else if (message === 'ping') send('pong')
  })
  await app.warmUp()
  await app.listen(readListenAddress(config)).catch(cannotListen)
}

start().catch((error) => failWith(error, announcer))
