import type { FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { ref } from '#schemas/common.ts'
import { Feedback, type FeedbackRequest } from '#schemas/feedback.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { callerOf } from '#src/http/plugins/authentication.ts'
import { IDEMPOTENCY_ERRORS } from '#src/http/plugins/idempotency.ts'
import { dayOf } from '#src/lib/days.ts'
import { observableKeysOf } from '#src/products/define.ts'
import { putFeedback } from './queries.ts'

/** @param body the schema of the request */
export function feedbackRoutes(app: App, body: TSchema): void {
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
