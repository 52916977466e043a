import { setTimeout } from 'node:timers/promises'
import { buildApp } from '#src/app.ts'
import type { Config } from '#src/config.ts'
import type { Cluster } from '#src/database/client.ts'
import { OperatorError } from '#src/errors.ts'
import { listenForScrapes } from '#src/http/metrics/listener.ts'
import { endInOrder } from './ending.ts'
import { prepare } from './prepare.ts'
import type { Running, Start } from './running.ts'
import { hostOf, tellScrapers, welcome } from './welcome.ts'

/** Runs the service in this process. */
export async function run(config: Config, cluster: Cluster, { announcer, seconds }: Start): Promise<Running> {
  const { say } = announcer
  const synthetic = await prepare(config, cluster, say)
  const database = cluster.connect()
  const app = await buildApp(config, database)
  const scraped = await listenForScrapes(app)
  await app.warmUp()
  await app.listen({ host: hostOf(config), port: config.PORT }).catch(({ message }: Error) => {
    throw new OperatorError(`Cannot listen: ${message}. Set HOST or PORT.`)
  })
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : config.PORT
  welcome(announcer, config, { port, seconds: seconds(), synthetic })
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
