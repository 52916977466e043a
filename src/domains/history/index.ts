import { historyQueryOf, historySchemasOf } from '#schemas/history.ts'
import type { App } from '#src/http/app.ts'
import { historyRoutes } from './routes.ts'

/** What callers with a token were answered. */
export async function history(app: App): Promise<void> {
  const { list: products } = app.products
  const { components, ...answers } = historySchemasOf(products)
  for (const schema of components) app.addSchema(schema)
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
  historyRoutes(app, { query: historyQueryOf(products), ...answers })
}
