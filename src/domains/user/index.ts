import { userSchemas } from '#schemas/user.ts'
import type { App } from '#src/http/app.ts'
import { userRoutes } from './routes.ts'

/** What is stored of a person, to be read, changed and deleted by that person. */
export async function user(app: App): Promise<void> {
  for (const schema of userSchemas) app.addSchema(schema)
  userRoutes(app)
}
