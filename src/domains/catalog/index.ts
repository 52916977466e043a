import { catalogSchemasOf } from '#schemas/catalog.ts'
import type { App } from '#src/http/app.ts'
import { catalogRoutes } from './routes.ts'

/** The catalog: what the service offers, and what is published at the moment. */
export async function catalog(app: App): Promise<void> {
  const { catalog: response, components } = catalogSchemasOf(app.products.list)
  for (const schema of components) app.addSchema(schema)
  catalogRoutes(app, response)
}
