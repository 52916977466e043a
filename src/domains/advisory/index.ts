import { advisorySchemas } from '#schemas/advisory.ts'
import { allProductsSchemas } from '#schemas/all-products.ts'
import { batchSchemas } from '#schemas/batch.ts'
import { polygonSchemas } from '#schemas/polygon.ts'
import type { RecordAdvisory } from '#src/domains/history/queries.ts'
import type { App } from '#src/http/app.ts'
import { batchRoutes } from './batch/routes.ts'
import { createPointAdvisor } from './lookup/advisor.ts'
import { pointRoutes } from './point/routes.ts'
import { polygonRoutes } from './polygon/routes.ts'

export interface AdvisoryOptions {
  /** Where what callers with a token are answered is kept. */
  keep: RecordAdvisory
}

/** The advisory endpoints: what the published releases say about a place. */
export async function advisory(app: App, { keep }: AdvisoryOptions): Promise<void> {
  for (const schema of [...advisorySchemas, ...allProductsSchemas, ...batchSchemas, ...polygonSchemas]) {
    app.addSchema(schema)
  }
  const advisor = createPointAdvisor(app.database, app.config)
  pointRoutes(app, advisor, keep)
  await app.register(batchRoutes, { advisor })
  polygonRoutes(app, advisor.reasons, keep)
}
