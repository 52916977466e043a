import { keySchemas } from '#schemas/keys.ts'
import type { App } from '#src/http/app.ts'
import { keyRoutes } from './routes.ts'

/** Keys for servers, which nobody can ask for a password. */
export async function keys(app: App): Promise<void> {
  for (const schema of keySchemas) app.addSchema(schema)
  keyRoutes(app)
}
