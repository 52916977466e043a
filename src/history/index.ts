import { ref } from '#schemas/common.ts'
import { defineFeedbackRequest, Feedback, type FeedbackRequest } from '#schemas/feedback.ts'
import { defineHistoryQuery, defineHistorySchemas, ItemParams } from '#schemas/history.ts'
import { observableKeysOf } from '#schemas/products/define.ts'
import { isLockNotAvailable } from '#src/data/failures.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError } from '#src/errors.ts'
import { type App, answers } from '#src/http/app.ts'
import { requireCaller } from '#src/http/caller.ts'
import { observeBatcher } from '#src/http/metrics/metrics.ts'
import { DAY_MS, formatDay } from '#src/lib/dates.ts'
import type { RecordAdvisory } from './keep-answer.ts'
import { createMonthsAhead, putFeedback, requireItem } from './queries.ts'
import { createHistoryRecorder, createHistoryTotal, readQuota, readTotalLimit } from './recorder.ts'
import { deleteOldest, type HistoryQuota } from './recording-queries.ts'
import { deleteOldItems, dropMonthPiece, END_OF_ACCOUNTS, FIRST_ACCOUNT } from './retention-queries.ts'
import { historyRoutes, type ItemRequest } from './routes.ts'

export async function history(app: App): Promise<void> {
  const { list: products } = app.products
  const { components, ...answers } = defineHistorySchemas(products, app.additions)
  for (const schema of components) app.addSchema(schema)
  historyRoutes(app, { query: defineHistoryQuery(products), ...answers })
}

export function startHistoryRecorder(app: App): RecordAdvisory {
  const db = app.database.writer
  const quota = readQuota(app.config)
  app.jobs.add(
    'create-months',
    {
      everyMs: DAY_MS,
      atOnce: true,
      failure: 'partitions of the next months of histories were not made; will retry',
    },
    () => createMonthsAhead(db),
  )
  dropOldMonths(app)
  const shorten = createShortener(app, db, quota)
  const limitBytes = readTotalLimit(app.config)
  const total = limitBytes === undefined ? undefined : createHistoryTotal(db, limitBytes)
  if (total) {
    app.metrics.observe('agro_history_bytes', () => total.state().bytes)
    app.metrics.observe('agro_history_limit_bytes', () => total.state().limitBytes)
    // A scrape does not read the database; without it now, the next item reads.
    app.addHook('onReady', () => void app.prepared.then(total.isFull).catch(() => {}))
  }
  const shortens = quota.full === 'oldest' ? shorten : () => {}
  const { record, state, outcomes } = createHistoryRecorder(db, quota, shortens, total)
  observeBatcher(app.metrics, 'history', state)
  app.metrics.observeAll('agro_history_items_total', () =>
    Object.entries(outcomes).map(([outcome, value]) => ({ labels: { outcome }, value })),
  )
  return record
}

/** A removal that has begun ends, also after a change of settings. */
function dropOldMonths(app: App): void {
  const removePiece = createRetention(app.database.writer, app.config.HISTORY_MONTHS)
  app.jobs.add(
    'remove-old-items',
    { atOnce: true, failure: 'expired items of histories were not deleted; will retry' },
    () =>
      removePiece().catch((error) => {
        // A dump holds locks for minutes; `agro doctor` names items that stay for longer.
        if (isLockNotAvailable(error)) return false
        throw error
      }),
  )
}

function createRetention(db: Db, months: number | undefined): () => Promise<boolean> {
  // Items become too old when a month begins: then, and when the process starts, it looks at all accounts.
  let month: string | undefined
  let account = END_OF_ACCOUNTS

  return async () => {
    if (await dropMonthPiece(db, months)) return true
    if (months === undefined) return false
    const thisMonth = formatDay(Date.now()).slice(0, 'YYYY-MM'.length)
    if (month !== thisMonth) {
      month = thisMonth
      account = FIRST_ACCOUNT
    }
    if (account === END_OF_ACCOUNTS) return false
    const next = await deleteOldItems(db, months, account)
    account = next ?? account
    return next !== undefined && next !== END_OF_ACCOUNTS
  }
}

/** Items of one statement: the embedded database lets others wait meanwhile. */
const PIECE = 500

/** Deletes the oldest items over the quota piece by piece, user by user. A stop is made up for with the next item. */
export function createShortener(
  { jobs }: Pick<App, 'jobs'>,
  db: Db,
  quota: HistoryQuota,
): (userId: string) => void {
  const waiting = new Set<string>()

  jobs.add('shorten-histories', { failure: 'a full history was not shortened; will retry' }, async () => {
    const [userId] = waiting
    if (userId === undefined) return false
    waiting.delete(userId)
    const deleted = await deleteOldest(db, userId, quota, PIECE)
    if (deleted === PIECE) waiting.add(userId)
    return waiting.size > 0
  })
  return (userId) => {
    waiting.add(userId)
    jobs.wake('shorten-histories')
  }
}

export async function feedback(app: App): Promise<void> {
  const body = defineFeedbackRequest(app.products.list)
  app.addSchema(body)
  const db = app.database.writer
  const observable = observableKeysOf(app.products.list)

  app.post(
    '/:id/feedback',
    {
      config: { scope: 'history', caching: 'never', idempotent: true },
      schema: {
        operationId: 'giveFeedback',
        summary: 'Give feedback on an advisory',
        description:
          'Stores a rating, and optionally a comment and observations, with an item of your history. New feedback replaces the old.',
        tags: ['history'],
        params: ItemParams,
        body: ref(body),
        response: answers(Feedback, 'The stored feedback.', 'INVALID_PARAMETERS', 'NOT_FOUND'),
      },
    },
    async (request: ItemRequest<FeedbackRequest>) => {
      refuseFuture(request.body.observed?.harvested_on)
      const { id } = requireCaller(request)
      return requireItem(await putFeedback(db, id, request.params.id, request.body, observable))
    },
  )
}

/** A day begins first at UTC+14. */
const FIRST_TO_BEGIN_MS = 14 * 3_600_000

function refuseFuture(harvestedOn: string | null | undefined): void {
  if (!harvestedOn || harvestedOn <= formatDay(Date.now() + FIRST_TO_BEGIN_MS)) return
  throw ApiError.invalid('observed.harvested_on', 'must not be in the future')
}
