import { feedSchemas } from '#schemas/feed.ts'
import type { App } from '#src/http/app.ts'
import { feedRoutes } from './routes.ts'

/** What has changed of what the service answers with. */
export async function feed(app: App): Promise<void> {
  for (const schema of feedSchemas) app.addSchema(schema)
  feedRoutes(app)
}
