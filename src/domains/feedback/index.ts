import { feedbackRequestOf } from '#schemas/feedback.ts'
import type { App } from '#src/http/app.ts'
import { feedbackRoutes } from './routes.ts'

/** What callers say of the advisories that they were given. */
export async function feedback(app: App): Promise<void> {
  const request = feedbackRequestOf(app.products.list)
  app.addSchema(request)
  feedbackRoutes(app, request)
}
