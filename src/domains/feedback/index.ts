import { feedbackRequestOf } from '#schemas/feedback.ts'
import type { App } from '#src/http/app.ts'
import { feedbackRoutes } from './routes.ts'

/** What callers say of the advisories that they were given. */
export async function feedback(app: App): Promise<void> {
  const request = feedbackRequestOf(app.products.list)
  app.addSchema(request)
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  feedbackRoutes(app, request)
}
