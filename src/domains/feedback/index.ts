import { feedbackSchemas } from '#schemas/feedback.ts'
import type { App } from '#src/http/app.ts'
import { feedbackRoutes } from './routes.ts'

/** What callers say of the advisories that they were given. */
export async function feedback(app: App): Promise<void> {
  for (const schema of feedbackSchemas) app.addSchema(schema)
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  feedbackRoutes(app)
}
