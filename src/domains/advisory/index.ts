import { advisorySchemas } from '#schemas/advisory.ts'
import type { App } from '#src/plugins/app.ts'
import { pointRoutes } from './routes.ts'

/** The advisory endpoints: what the published releases say about a place. */
export async function advisory(app: App): Promise<void> {
  for (const schema of advisorySchemas) app.addSchema(schema)
  pointRoutes(app)
}
