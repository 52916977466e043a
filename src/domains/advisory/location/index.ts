import { locationSchemasOf } from '#schemas/location.ts'
import type { App } from '#src/http/app.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { locationRoutes } from './routes.ts'

/** Where a point lies, and what is known about it. */
export async function location(app: App, { lookup }: { lookup: Lookup }): Promise<void> {
  const { validation, components } = locationSchemasOf(app.products.list)
  for (const schema of components) app.addSchema(schema)
  locationRoutes(app, lookup, validation)
}
