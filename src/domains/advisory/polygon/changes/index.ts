import { changesComponents } from '#schemas/changes.ts'
import type { App } from '#src/http/app.ts'
import { changesRoutes } from './routes.ts'

/** What changes from one release to another. */
export async function changes(app: App): Promise<void> {
  for (const schema of changesComponents) app.addSchema(schema)
  changesRoutes(app)
}
