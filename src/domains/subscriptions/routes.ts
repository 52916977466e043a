import type { FastifyReply, FastifyRequest } from 'fastify'
import { ref } from '#schemas/common.ts'
import type { SubscriptionSchemas } from '#schemas/subscriptions.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { callerOf } from '#src/http/plugins/authentication.ts'
import { IDEMPOTENCY_ERRORS } from '#src/http/plugins/idempotency.ts'
import type { OutwardRules } from '#src/lib/outward-post.ts'
import { answerOf, existing, type SubscriptionById, SubscriptionParams } from './answer.ts'
import type { AdmitTest, PlaceReader } from './queries.ts'
import { newSecret, type SecretSeal } from './secrets.ts'
import { stateRoutes } from './state-routes.ts'
import {
  deleteSubscription,
  findSubscription,
  insertSubscription,
  listSubscriptions,
} from './subscription-queries.ts'
import { testRoute } from './test-route.ts'
import { type SubscriptionCall, wantedBy } from './wanted.ts'

/** A polygon of about 1,500 vertices: what is kept for as long as a subscription is not as large as what is asked once. */
const BODY_LIMIT = 65_536

/** What the routes work with. */
export interface SubscriptionDesk {
  reader: PlaceReader
  rules: OutwardRules
  seal: SecretSeal
  /** Has comparisons and deliveries begun at once. */
  begin: () => void
  admitTest: AdmitTest
  schemas: SubscriptionSchemas
}

const DESCRIPTION = `
Sends changes of the values at a place to your address. After each publication, rollback, withdrawal and deletion the service compares the values with the last ones sent. Differences over the threshold are posted within a few minutes.

The place is a point (\`lat\`, \`lng\`), a polygon (\`geometry\`) or an administrative area (\`admin\`); polygons and areas are watched by their means. \`input\` and \`scenario\` watch one of several layers.

**Deliveries** are POSTs in the format of Standard Webhooks, with a CloudEvents event as \`application/cloudevents+json\`. Verify \`webhook-signature\` with the \`secret\`, which is shown once, and answer 2xx within 10 seconds. Failed deliveries are repeated for a day with the same \`webhook-id\`, so an event may come twice. A 410, or a day of failures, disables the subscription.

Targets are public \`https\` addresses; redirects are not followed. The rules for receivers are in the guide.`

export function subscriptionRoutes(app: App, desk: SubscriptionDesk): void {
  app.route(createRoute(app, desk))
  app.route(listRoute(app, desk))
  app.route(getRoute(app, desk))
  app.route(deleteRoute(app))
  stateRoutes(app, desk)
  app.route(testRoute(app, desk))
}

function createRoute(app: App, { reader, rules, seal, schemas }: SubscriptionDesk) {
  const { database, products, config } = app
  const limit = config.SUBSCRIPTIONS_PER_USER
  return {
    method: 'POST',
    url: '/subscriptions',
    bodyLimit: BODY_LIMIT,
    config: { scope: 'account', caching: 'never', idempotent: true, secret: true, ownTurns: true },
    schema: {
      operationId: 'createSubscription',
      summary: 'Subscribe to changes at a place',
      description: DESCRIPTION.trim(),
      tags: ['subscriptions'],
      body: ref(schemas.request),
      response: {
        201: { ...ref(schemas.made), description: 'The subscription, with its secret.' },
        ...errorResponses(
          'INVALID_PARAMETERS',
          'UNAUTHORIZED',
          'INSUFFICIENT_SCOPE',
          'INVALID_GEOMETRY',
          'CROP_NOT_AVAILABLE',
          'UNKNOWN_AREA',
          'OUTSIDE_COUNTRY',
          'NO_DATA',
          'TOO_MANY_SUBSCRIPTIONS',
          'QUERY_TIMEOUT',
          ...IDEMPOTENCY_ERRORS,
          ...BODY_ERRORS,
        ),
      },
    },
    handler: (request: SubscriptionCall, reply: FastifyReply) =>
      app.once(request, reply, async () => {
        const { id: userId } = callerOf(request)
        const wanted = await wantedBy(request, reply, { products, reader, rules })
        const secret = newSecret()
        const row = await app.inTurn(request, reply, () =>
          inTransaction(database.writer, async (trx) => {
            const inserted = await insertSubscription(
              trx,
              { ...wanted, userId, secret: seal.seal(userId, secret) },
              limit,
            )
            if (typeof inserted === 'object') {
              const { host } = new URL(wanted.url)
              await request.audit(trx, {
                kind: 'subscription_made',
                detail: { subscription: inserted.id, host },
              })
            }
            return inserted
          }),
        )
        if (row === 'too many') {
          throw new ApiError(
            'TOO_MANY_SUBSCRIPTIONS',
            limit === 0
              ? 'Subscriptions are off on this service.'
              : `You have ${limit} subscriptions: delete one that is not needed.`,
          )
        }
        reply.code(201).header('location', `${request.basePath}/subscriptions/${row.id}`)
        return { ...answerOf(app, row), secret }
      }),
  } as const
}

function listRoute(app: App, { schemas }: SubscriptionDesk) {
  return {
    method: 'GET',
    url: '/subscriptions',
    config: { scope: 'account', caching: 'never' },
    schema: {
      operationId: 'listSubscriptions',
      summary: 'List your subscriptions',
      description:
        'All subscriptions, the newest first, with the last values sent and the state of deliveries.',
      tags: ['subscriptions'],
      response: {
        200: { ...ref(schemas.list), description: 'The subscriptions.' },
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE'),
      },
    },
    handler: async (request: FastifyRequest) => {
      const rows = await listSubscriptions(app.database.writer, callerOf(request).id)
      return { items: rows.map((row) => answerOf(app, row)), next_cursor: null }
    },
  } as const
}

function getRoute(app: App, { schemas }: SubscriptionDesk) {
  return {
    method: 'GET',
    url: '/subscriptions/:id',
    config: { scope: 'account', caching: 'never' },
    schema: {
      operationId: 'getSubscription',
      summary: 'Get a subscription',
      description: 'The subscription, with the last values sent and the state of deliveries.',
      tags: ['subscriptions'],
      params: SubscriptionParams,
      response: {
        200: { ...ref(schemas.subscription), description: 'The subscription.' },
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'NOT_FOUND'),
      },
    },
    handler: async (request: SubscriptionById) =>
      answerOf(
        app,
        existing(await findSubscription(app.database.writer, callerOf(request).id, request.params.id)),
      ),
  } as const
}

function deleteRoute(app: App) {
  return {
    method: 'DELETE',
    url: '/subscriptions/:id',
    config: { scope: 'account', caching: 'never' },
    schema: {
      operationId: 'deleteSubscription',
      summary: 'Delete a subscription',
      description: 'Nothing more is sent, and what is on its way is not tried again.',
      tags: ['subscriptions'],
      params: SubscriptionParams,
      response: {
        204: { type: 'null', description: 'The subscription is deleted.' },
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'NOT_FOUND', ...BODY_ERRORS),
      },
    },
    handler: async (request: SubscriptionById, reply: FastifyReply) => {
      const { id } = request.params
      existing(
        await inTransaction(app.database.writer, async (trx) => {
          const deleted = await deleteSubscription(trx, callerOf(request).id, id)
          if (deleted) {
            await request.audit(trx, { kind: 'subscription_deleted', detail: { subscription: id } })
          }
          return deleted
        }),
      )
      return reply.code(204).send()
    },
  } as const
}
