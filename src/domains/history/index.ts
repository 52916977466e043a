import { historyQueryOf, historySchemasOf } from '#schemas/history.ts'
import type { App } from '#src/http/app.ts'
import { historyRoutes } from './routes.ts'

/** What callers with a token were answered. */
export async function history(app: App): Promise<void> {
  const { list: products } = app.products
  const { components, ...answers } = historySchemasOf(products)
  for (const schema of components) app.addSchema(schema)
  historyRoutes(app, { query: historyQueryOf(products), ...answers })
}
