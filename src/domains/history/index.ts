import { historySchemas } from '#schemas/history.ts'
import type { App } from '#src/http/app.ts'
import { historyRoutes } from './routes.ts'

/** What callers with a token were answered. */
export async function history(app: App): Promise<void> {
  for (const schema of historySchemas) app.addSchema(schema)
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  historyRoutes(app)
}
