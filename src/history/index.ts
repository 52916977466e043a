import type { FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { ref } from '#schemas/common.ts'
import { Feedback, type FeedbackRequest, feedbackRequestOf } from '#schemas/feedback.ts'
import { historyQueryOf, historySchemasOf, Share } from '#schemas/history.ts'
import { observableKeysOf } from '#schemas/products/define.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { observeBatcher } from '#src/http/metrics/metrics.ts'
import { callerOf } from '#src/http/plugins/authentication.ts'
import { IDEMPOTENCY_ERRORS } from '#src/http/plugins/idempotency.ts'
import { dayOf } from '#src/lib/dates.ts'
import { createMonthsAhead, putFeedback, type RecordAdvisory } from './queries.ts'
import { createHistoryRecorder, createHistoryTotal, quotaOf, totalOf } from './recorder.ts'
import { createShortener, dropOldMonths } from './retention.ts'
import { historyRoutes } from './routes.ts'
import { shareRoutes } from './shares.ts'

/** What callers with a token were answered. */
export async function history(app: App): Promise<void> {
  const { list: products } = app.products
  const { components, ...answers } = historySchemasOf(products)
  for (const schema of components) app.addSchema(schema)
  historyRoutes(app, { query: historyQueryOf(products), ...answers })
  app.addSchema(Share)
  shareRoutes(app)
}

/** Makes what keeps advisories as long as the service runs, within what is kept of an account. */
export function historyRecorderOf(app: App): RecordAdvisory {
  const db = app.database.writer
  const quota = quotaOf(app.config)
  app.jobs.add('create-months', () => createMonthsAhead(db))
  dropOldMonths(app)
  const shorten = createShortener(app, db, quota)
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

/** @param body the schema of the request */
function feedbackRoutes(app: App, body: TSchema): void {
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
        params: Type.Object({ id: Type.String({ description: 'The id of the item.' }) }),
        body: ref(body),
        response: {
          200: { ...ref(Feedback), description: 'The stored feedback.' },
          ...errorResponses(
            'INVALID_PARAMETERS',
            'UNAUTHORIZED',
            'INSUFFICIENT_SCOPE',
            'NOT_FOUND',
            ...IDEMPOTENCY_ERRORS,
            ...BODY_ERRORS,
          ),
        },
      },
    },
    (request: FastifyRequest<{ Params: { id: string }; Body: FeedbackRequest }>, reply) =>
      app.once(request, reply, async () => {
        refuseFuture(request.body.observed?.harvested_on)
        const feedback = await putFeedback(
          db,
          callerOf(request).id,
          request.params.id,
          request.body,
          observable,
        )
        if (!feedback) throw new ApiError('NOT_FOUND', 'There is nothing with this id in your history.')
        return feedback
      }),
  )
}

/** A day begins first at UTC+14: for somebody it is today already. */
const FIRST_TO_BEGIN_MS = 14 * 3_600_000

function refuseFuture(harvestedOn: string | null | undefined): void {
  if (!harvestedOn || harvestedOn <= dayOf(Date.now() + FIRST_TO_BEGIN_MS)) return
  throw ApiError.invalid('observed.harvested_on', 'must not be in the future')
}

/** What callers say of the advisories that they were given. */
export async function feedback(app: App): Promise<void> {
  const request = feedbackRequestOf(app.products.list)
  app.addSchema(request)
  feedbackRoutes(app, request)
}
