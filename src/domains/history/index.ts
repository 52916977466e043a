import { historyQueryOf, historySchemasOf } from '#schemas/history.ts'
import { Share, sharingSchemasOf } from '#schemas/sharing.ts'
import type { App } from '#src/http/app.ts'
import { observeBatcher } from '#src/http/metrics/observe.ts'
import type { StillTaken } from './citation.ts'
import { citationRoute } from './citation-routes.ts'
import { keepMonths } from './months.ts'
import type { RecordAdvisory } from './queries.ts'
import { quotaOf, totalOf } from './quota.ts'
import { createHistoryRecorder } from './recorder.ts'
import { dropOldMonths } from './retention.ts'
import { historyRoutes } from './routes.ts'
import { shareRoutes } from './share-routes.ts'
import { createShortener } from './shortener.ts'
import { createHistoryTotal } from './total.ts'

/** What callers with a token were answered. */
export async function history(app: App): Promise<void> {
  const { list: products } = app.products
  const { components, ...answers } = historySchemasOf(products)
  for (const schema of components) app.addSchema(schema)
  historyRoutes(app, { query: historyQueryOf(products), ...answers })
  app.addSchema(Share)
  shareRoutes(app)
}

/** What of it is shown to everybody, at addresses of its own. */
export async function citations(app: App, { isTaken }: { isTaken: StillTaken }): Promise<void> {
  const { citation, components } = sharingSchemasOf(app.products.list)
  for (const schema of components) app.addSchema(schema)
  citationRoute(app, citation, isTaken)
}

/** Makes what keeps advisories as long as the service runs, within what is kept of an account. */
export function historyRecorderOf(app: App): RecordAdvisory {
  const db = app.database.writer
  const quota = quotaOf(app.config)
  keepMonths(app)
  dropOldMonths(app)
  const { shorten, end } = createShortener(db, quota, app.logFailure)
  app.addHook('onClose', end)
  const limitBytes = totalOf(app.config)
  const total = limitBytes === undefined ? undefined : createHistoryTotal(db, limitBytes)
  if (total) {
    app.metrics.observe('agro_history_bytes', () => total.state().bytes)
    app.metrics.observe('agro_history_limit_bytes', () => total.state().limitBytes)
    // A scrape asks nobody; without the database the next item reads it.
    app.addHook('onReady', () => void total.isFull().catch(() => {}))
  }
  const shortens = quota.full === 'oldest' ? shorten : () => {}
  const { record, state } = createHistoryRecorder(db, quota, shortens, total)
  observeBatcher(app.metrics, 'history', state)
  return record
}
