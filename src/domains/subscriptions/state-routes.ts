import type { FastifyReply } from 'fastify'
import { ref } from '#schemas/common.ts'
import { NewSecret, type SubscriptionSchemas } from '#schemas/subscriptions.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { callerOf } from '#src/http/plugins/authentication.ts'
import { IDEMPOTENCY_ERRORS } from '#src/http/plugins/idempotency.ts'
import { answerOf, existing, type SubscriptionById, SubscriptionParams } from './answer.ts'
import { newSecret, type SecretSeal } from './secrets.ts'
import { enableSubscription, findSubscription, renewSecret } from './subscription-queries.ts'

interface StateDesk {
  seal: SecretSeal
  /** Has comparisons and deliveries begun at once. */
  begin: () => void
  schemas: SubscriptionSchemas
}

/** What is done to a subscription that is there. */
export function stateRoutes(app: App, desk: StateDesk): void {
  app.route(enableRoute(app, desk))
  app.route(renewRoute(app, desk))
}

function enableRoute(app: App, { begin, schemas }: StateDesk) {
  const { writer } = app.database
  return {
    method: 'POST',
    url: '/subscriptions/:id/enable',
    config: { scope: 'account', caching: 'never' },
    schema: {
      operationId: 'enableSubscription',
      summary: 'Enable a subscription again',
      description:
        'Tells of changes again, after the target was gone or has failed for a day. The last event that was given up is sent once more, with the id that it had; then what has changed since.',
      tags: ['subscriptions'],
      params: SubscriptionParams,
      response: {
        200: { ...ref(schemas.subscription), description: 'The subscription.' },
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'NOT_FOUND', ...BODY_ERRORS),
      },
    },
    handler: async (request: SubscriptionById) => {
      const { id } = request.params
      const { id: userId } = callerOf(request)
      const row = await inTransaction(writer, async (trx) => {
        if (!(await enableSubscription(trx, userId, id))) return undefined
        const found = await findSubscription(trx, userId, id)
        await request.audit(trx, { kind: 'subscription_enabled', detail: { subscription: id } })
        return found
      })
      const answer = answerOf(app, existing(row))
      begin()
      return answer
    },
  } as const
}

function renewRoute(app: App, { seal }: StateDesk) {
  const { writer } = app.database
  return {
    method: 'POST',
    url: '/subscriptions/:id/secret',
    config: { scope: 'account', caching: 'never', idempotent: true, secret: true },
    schema: {
      operationId: 'renewSubscriptionSecret',
      summary: 'Renew the secret of a subscription',
      description:
        'Makes another secret, which is shown once. For a day deliveries are signed with the one before, too, so that receivers can change it without missing any.',
      tags: ['subscriptions'],
      params: SubscriptionParams,
      response: {
        200: { ...ref(NewSecret), description: 'The secret.' },
        ...errorResponses(
          'UNAUTHORIZED',
          'INSUFFICIENT_SCOPE',
          'NOT_FOUND',
          ...IDEMPOTENCY_ERRORS,
          ...BODY_ERRORS,
        ),
      },
    },
    handler: (request: SubscriptionById, reply: FastifyReply) =>
      app.once(request, reply, async () => {
        const { id } = request.params
        const { id: userId } = callerOf(request)
        const secret = newSecret()
        existing(
          await inTransaction(writer, async (trx) => {
            const renewed = await renewSecret(trx, userId, id, seal.seal(userId, secret))
            if (renewed) {
              await request.audit(trx, {
                kind: 'subscription_secret_renewed',
                detail: { subscription: id },
              })
            }
            return renewed
          }),
        )
        return { secret }
      }),
  } as const
}
