import { statsSchemas } from '#schemas/stats.ts'
import type { App } from '#src/http/app.ts'
import { statsRoutes } from './routes.ts'

/** How much is asked, by whom it may be known, and how it goes. */
export async function stats(app: App): Promise<void> {
  for (const schema of statsSchemas) app.addSchema(schema)
  statsRoutes(app)
}
