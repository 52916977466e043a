import { setTimeout } from 'node:timers/promises'
import { buildApp } from '#src/app.ts'
import type { Config } from '#src/config.ts'
import type { Cluster } from '#src/database/client.ts'
import { listenForScrapes } from '#src/http/metrics/listener.ts'
import { endInOrder } from './ending.ts'
import { cannotListen, placeOf, portOf } from './listening.ts'
import { prepare } from './prepare.ts'
import type { Running, Start } from './running.ts'
import { tellScrapers, welcome } from './welcome.ts'

/** Runs the service in this process. */
export async function run(config: Config, cluster: Cluster, { announcer, seconds }: Start): Promise<Running> {
  const { say } = announcer
  const synthetic = await prepare(config, cluster, say)
  const database = cluster.connect()
  const app = await buildApp(config, database)
  const scraped = await listenForScrapes(app)
  await app.warmUp()
  await app.listen(placeOf(config)).catch(cannotListen)
  welcome(announcer, config, { port: portOf(app.server, config), seconds: seconds(), synthetic })
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
