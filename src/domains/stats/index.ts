import { SlowCallsAnswer, statsSchemasOf } from '#schemas/stats.ts'
import type { App } from '#src/http/app.ts'
import { statsRoutes } from './routes.ts'
import { slowCallsRoute } from './slow-calls-route.ts'

/** How much is asked, by whom it may be known, and how it goes. */
export async function stats(app: App): Promise<void> {
  const { stats: response, components } = statsSchemasOf(app.products.list)
  for (const schema of [...components, SlowCallsAnswer]) app.addSchema(schema)
  statsRoutes(app, response)
  slowCallsRoute(app)
}
