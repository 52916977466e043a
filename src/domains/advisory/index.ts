import { advisorySchemas } from '#schemas/advisory.ts'
import { everythingSchemas } from '#schemas/everything.ts'
import { pointsSchemas } from '#schemas/points.ts'
import { polygonSchemas } from '#schemas/polygon.ts'
import type { KeepAdvisory } from '#src/domains/history/queries.ts'
import type { App } from '#src/plugins/app.ts'
import { createPointAdvisor } from './point.ts'
import { pointsRoutes } from './points/routes.ts'
import { polygonRoutes } from './polygons/routes.ts'
import { pointRoutes } from './routes.ts'

export interface AdvisoryOptions {
  /** Where what callers with a token are answered is kept. */
  keep: KeepAdvisory
}

/** The advisory endpoints: what the published releases say about a place. */
export async function advisory(app: App, { keep }: AdvisoryOptions): Promise<void> {
  for (const schema of [...advisorySchemas, ...everythingSchemas, ...pointsSchemas, ...polygonSchemas]) {
    app.addSchema(schema)
  }
  const advisor = createPointAdvisor(app.database, app.config)
  pointRoutes(app, advisor, keep)
  await app.register(pointsRoutes, { advisor })
  polygonRoutes(app, advisor.reasons, keep)
}
