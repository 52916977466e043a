import { adminSchemas } from '#schemas/admin.ts'
import type { App } from '#src/plugins/app.ts'
import { adminRoutes } from './routes.ts'

/** The administrative areas of the countries, level by level. */
export async function admin(app: App): Promise<void> {
  for (const schema of adminSchemas) app.addSchema(schema)
  adminRoutes(app)
}
