import { catalogSchemas } from '#schemas/catalog.ts'
import type { App } from '#src/http/app.ts'
import { catalogRoutes } from './routes.ts'

/** The catalog: what the service offers, and what is published at the moment. */
export async function catalog(app: App): Promise<void> {
  for (const schema of catalogSchemas) app.addSchema(schema)
  catalogRoutes(app)
}
