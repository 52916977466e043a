import { adminSchemas } from '#schemas/areas.ts'
import type { App } from '#src/http/app.ts'
import { adminRoutes } from './routes.ts'

/** The administrative areas of the countries, level by level. */
export async function admin(app: App): Promise<void> {
  for (const schema of adminSchemas) app.addSchema(schema)
  adminRoutes(app)
}
