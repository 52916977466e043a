import { scorecardSchemas } from '#schemas/scorecard.ts'
import type { App } from '#src/http/app.ts'
import { scorecardRoutes } from './routes.ts'

/** What releases have predicted, held against what was observed. */
export async function scorecard(app: App): Promise<void> {
  for (const schema of scorecardSchemas) app.addSchema(schema)
  scorecardRoutes(app)
}
