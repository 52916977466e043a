import { authSchemas } from '#schemas/auth.ts'
import type { App } from '#src/http/app.ts'
import { authRoutes } from './routes.ts'

/** Accounts: registration, login and the tokens that come of it. */
export async function auth(app: App): Promise<void> {
  for (const schema of authSchemas) app.addSchema(schema)
  authRoutes(app)
}
