import { advisorySchemas } from '#schemas/advisory.ts'
import { allProductsSchemas } from '#schemas/all-products.ts'
import { batchSchemas } from '#schemas/batch.ts'
import { polygonSchemas } from '#schemas/polygon.ts'
import type { RecordAdvisory } from '#src/domains/history/queries.ts'
import type { App } from '#src/http/app.ts'
import { batchRoutes } from './batch/routes.ts'
import { createLookup } from './lookup/lookup.ts'
import { pointRoutes } from './point/routes.ts'
import { polygonRoutes } from './polygon/routes.ts'

export interface AdvisoryOptions {
  /** Records what callers with a token are answered. */
  record: RecordAdvisory
}

/** The advisory endpoints: what the published releases say about a place. */
export async function advisory(app: App, { record }: AdvisoryOptions): Promise<void> {
  for (const schema of [...advisorySchemas, ...allProductsSchemas, ...batchSchemas, ...polygonSchemas]) {
    app.addSchema(schema)
  }
  const lookup = createLookup(app.database, app.config)
  pointRoutes(app, lookup, record)
  await app.register(batchRoutes, { lookup })
  polygonRoutes(app, lookup, record)
}
