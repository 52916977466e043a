import { stacSchemas } from '#schemas/stac.ts'
import type { App } from '#src/http/app.ts'
import { stacRoutes } from './routes.ts'

/** What is published, for programs that know the SpatioTemporal Asset Catalog. */
export async function stac(app: App): Promise<void> {
  for (const schema of stacSchemas) app.addSchema(schema)
  stacRoutes(app)
}
