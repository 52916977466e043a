import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { ref } from '#schemas/common.ts'
import type { Products } from '#schemas/products/define.ts'
import {
  NewSecret,
  type SubscriptionRequest,
  type SubscriptionSchemas,
  type WatchedValue,
  WebhookTest,
} from '#schemas/subscriptions.ts'
import { inTransaction } from '#src/data/sql.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { callerOf } from '#src/http/plugins/authentication.ts'
import { IDEMPOTENCY_ERRORS } from '#src/http/plugins/idempotency.ts'
import { type OutwardRules, whyNoTarget } from '#src/lib/outward-post.ts'
import { type Answered, isArrival, messageOf, send } from './deliver.ts'
import {
  type AdmitTest,
  deleteSubscription,
  enableSubscription,
  findSubscription,
  findTarget,
  insertSubscription,
  listSubscriptions,
  newSecret,
  type Place,
  type PlaceReader,
  renewSecret,
  type SecretSeal,
  type SubscriptionRow,
  type Wanted,
} from './queries.ts'
import { watchedAmong } from './value-changes.ts'

const NO_SUCH_SUBSCRIPTION = 'You have no subscription with this id.'

const SubscriptionParams = Type.Object({
  id: Type.String({ description: 'The id of the subscription.' }),
})

type SubscriptionById = FastifyRequest<{ Params: { id: string } }>

/** A subscription as it is answered. */
function answerOf({ products }: App, row: SubscriptionRow) {
  return { ...row, unit: products.of(row.product).unit }
}

/** @throws {ApiError} NOT_FOUND where there is none of the caller */
function existing<Found>(found: Found | undefined | false): Found {
  if (found !== undefined && found !== false) return found
  throw new ApiError('NOT_FOUND', NO_SUCH_SUBSCRIPTION)
}

interface StateService {
  seal: SecretSeal
  schemas: SubscriptionSchemas
}

/** What is done to a subscription that is there. */
function stateRoutes(app: App, service: StateService): void {
  app.route(enableRoute(app, service))
  app.route(renewRoute(app, service))
}

function enableRoute(app: App, { schemas }: StateService) {
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
      app.jobs.wake('compare-subscriptions')
      app.jobs.wake('deliver-changes')
      return answer
    },
  } as const
}

function renewRoute(app: App, { seal }: StateService) {
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

interface TestService {
  rules: OutwardRules
  seal: SecretSeal
  admitTest: AdmitTest
}

/** Sends a message to a subscriber while its owner waits: it has no place in the deliveries, and is not tried again. */
function testRoute(app: App, { rules, seal, admitTest }: TestService) {
  const { writer } = app.database

  function messageFor(id: string, { values, ...row }: SubscriptionRow): string {
    const { product, country_code, crop, release, threshold } = row
    const told = {
      ...row,
      series: { product, countryCode: country_code, cropCode: crop },
      thresholdKind: threshold.kind,
      threshold: threshold.value,
      before: release,
      after: release,
    }
    const changes = values.map(({ input, scenario, value }) => {
      return {
        input,
        scenario,
        before: value,
        after: value,
        change: 0,
        change_percent: value === 0 ? null : 0,
      }
    })
    const { BASE_PATH: basePath } = app.config
    return messageOf(id, told, app.products.of(product), changes, { basePath, time: new Date(), test: true })
  }

  return {
    method: 'POST',
    url: '/subscriptions/:id/test',
    config: { scope: 'account', caching: 'never', ownTurns: true },
    schema: {
      operationId: 'testSubscription',
      summary: 'Send a test message to a subscriber',
      description:
        'Posts the values that were told last, as a change by 0 with `data.test` true, signed as every message is. The answer says what the target has answered. The subscription stays as it is, and nothing is sent again. An account may send two at once, then one every 10 seconds.',
      tags: ['subscriptions'],
      params: SubscriptionParams,
      response: {
        200: { ...ref(WebhookTest), description: 'The result.' },
        ...errorResponses(
          'UNAUTHORIZED',
          'INSUFFICIENT_SCOPE',
          'NOT_FOUND',
          'TOO_MANY_REQUESTS',
          ...BODY_ERRORS,
        ),
      },
    },
    handler: async (request: SubscriptionById, reply: FastifyReply) => {
      const { id: userId } = callerOf(request)
      const { row, target } = await app.inTurn(request, reply, async () => {
        const { id } = request.params
        const row = existing(await findSubscription(writer, userId, id))
        const target = existing(await findTarget(writer, userId, id))
        await admitTest(userId, new URL(target.url).host)
        return { row, target }
      })
      const id = randomUUID()
      const message = { id, userId, body: messageFor(id, row), ...target }
      return outcomeOf(id, await send(message, { seal, rules, signal: untilGone(reply) }))
    },
  } as const
}

function outcomeOf(id: string, answered: Answered): Static<typeof WebhookTest> {
  if (answered === 'secret lost') return { id, outcome: 'secret_lost', status: null }
  if (answered === 'unanswered') return { id, outcome: 'unanswered', status: null }
  return { id, outcome: isArrival(answered) ? 'delivered' : 'refused', status: answered }
}

type SubscriptionCall = FastifyRequest<{ Body: SubscriptionRequest }>

/**
 * What a request subscribes to, and what is told of it now.
 *
 * @throws {ApiError} where it is about no place or two, or no value is to be expected there
 */
async function wantedBy(
  request: SubscriptionCall,
  reply: FastifyReply,
  { products, reader, rules }: { products: Products; reader: PlaceReader; rules: OutwardRules },
): Promise<Omit<Wanted, 'userId' | 'secret'>> {
  const body = withoutNulls(request.body)
  const rule = whyNoTarget(body.url, rules)
  if (rule !== undefined) throw ApiError.invalid('url', rule)
  const place = placeOf(body, reader)
  const { crop, forecast_period } = body
  const country_code = countryOf(body)
  const series = await reader.seriesOf(products.of(body.product), {
    ...(crop && { crop }),
    ...(country_code && { country_code }),
    ...(forecast_period && { forecast_period }),
  })
  const reading = await reader.forRequest({ series, place }, request, reply).catch(nothingYet)
  const { name = '', input = null, scenario = null, threshold, url } = body
  const told = watchedAmong(reading.values, { input, scenario })
  if (reading.values.length > 0 && told.length === 0) throw notThere(body, reading.values)
  const { release } = reading
  return { name, series, place, input, scenario, threshold, url: new URL(url).href, release, told }
}

/** Null is the same as leaving out. */
function withoutNulls(body: SubscriptionRequest): SubscriptionRequest {
  const said = Object.entries(body).filter(([, value]) => value !== null)
  return Object.fromEntries(said) as unknown as SubscriptionRequest
}

/** That nothing is published yet is what somebody may want to be told of. */
function nothingYet(error: unknown): { release: null; values: WatchedValue[] } {
  if (error instanceof ApiError && error.code === 'NO_RELEASE') return { release: null, values: [] }
  throw error
}

function placeOf({ lat, lng, geometry, admin }: SubscriptionRequest, reader: PlaceReader): Place {
  const given = [lat !== undefined || lng !== undefined, geometry !== undefined, admin !== undefined]
  if (given.filter(Boolean).length !== 1) {
    throw new ApiError(
      'INVALID_PARAMETERS',
      'Send either lat and lng, a point; geometry, a GeoJSON polygon; or admin, an administrative area.',
      [{ field: 'lat', message: 'exactly one of lat and lng, geometry and admin must be sent' }],
    )
  }
  if (geometry !== undefined) return { type: 'polygon', geometry: reader.outlineOf(geometry) }
  if (admin !== undefined) return { type: 'area', code: admin.code.trim(), level: admin.level ?? null }
  if (lat === undefined) throw ApiError.invalid('lat', 'is required beside lng')
  if (lng === undefined) throw ApiError.invalid('lng', 'is required beside lat')
  return { type: 'point', lat, lng }
}

/** The country of an area is that of the subscription. */
function countryOf({ admin, country_code }: SubscriptionRequest): string | undefined {
  if (!admin) return country_code
  const normal = (code: string) => code.trim().toLowerCase()
  if (country_code !== undefined && normal(country_code) !== normal(admin.country_code)) {
    throw ApiError.invalid('country_code', 'must be the same as admin.country_code, or left out')
  }
  return admin.country_code
}

function notThere({ input }: SubscriptionRequest, values: readonly WatchedValue[]): ApiError {
  const field = input !== undefined && !values.some((value) => value.input === input) ? 'input' : 'scenario'
  const names = [...new Set(values.map((value) => value[field]))].filter((name) => name !== null)
  if (names.length === 0) return ApiError.invalid(field, 'must be left out: the product has none')
  return ApiError.invalid(field, `must be one of ${names.join(', ')}, or left out`, names)
}

/** A polygon of about 1,500 vertices: what is kept for as long as a subscription is not as large as what is asked once. */
const BODY_LIMIT = 65_536

/** What the routes work with. */
interface SubscriptionService {
  reader: PlaceReader
  rules: OutwardRules
  seal: SecretSeal
  admitTest: AdmitTest
  schemas: SubscriptionSchemas
}

const DESCRIPTION = `
Sends changes of the values at a place to your address. After each publication, rollback, withdrawal and deletion the service compares the values with the last ones sent. Differences over the threshold are posted within a few minutes.

The place is a point (\`lat\`, \`lng\`), a polygon (\`geometry\`) or an administrative area (\`admin\`); polygons and areas are watched by their means. \`input\` and \`scenario\` watch one of several layers.

**Deliveries** are POSTs in the format of Standard Webhooks, with a CloudEvents event as \`application/cloudevents+json\`. Verify \`webhook-signature\` with the \`secret\`, which is shown once, and answer 2xx within 10 seconds. Failed deliveries are repeated for a day with the same \`webhook-id\`, so an event may come twice. A 410, or a day of failures, disables the subscription.

Targets are public \`https\` addresses; redirects are not followed. The rules for receivers are in the guide.`

export function subscriptionRoutes(app: App, service: SubscriptionService): void {
  app.route(createRoute(app, service))
  app.route(listRoute(app, service))
  app.route(getRoute(app, service))
  app.route(deleteRoute(app))
  stateRoutes(app, service)
  app.route(testRoute(app, service))
}

function createRoute(app: App, { reader, rules, seal, schemas }: SubscriptionService) {
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

function listRoute(app: App, { schemas }: SubscriptionService) {
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

function getRoute(app: App, { schemas }: SubscriptionService) {
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
