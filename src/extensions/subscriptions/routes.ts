import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { ref } from '#schemas/common.ts'
import type { Series } from '#schemas/products/define.ts'
import { createThrottle, subjectNamed } from '#src/accounts/throttle.ts'
import { findLimits } from '#src/accounts/user-queries.ts'
import { readCountryCode } from '#src/advice/bodies.ts'
import type { Advisors } from '#src/advice/polygon/advisors.ts'
import { readGeoJson, soleFeature, toGeoJson } from '#src/advice/polygon/geometry.ts'
import type { AuditKind } from '#src/data/audit-kinds.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Trx } from '#src/data/tables.ts'
import { ApiError, requireFound } from '#src/errors.ts'
import { requireCollection } from '#src/extensions/fields/saved.ts'
import {
  compareValues,
  refuseUnknownLayer,
  selectWatched,
  type WatchedLayers,
} from '#src/extensions/fields/values.ts'
import { loadSecrets } from '#src/http/access-tokens.ts'
import { createAccountSeal, renewWhenReady } from '#src/http/account-seal.ts'
import { type App, answers, errorResponses, noContent } from '#src/http/app.ts'
import { requireCaller } from '#src/http/caller.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import { whyNoTarget } from '#src/lib/outward.ts'
import { isUuid } from '#src/lib/uuid.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { readSeries } from '#src/lookup/releases.ts'
import type { WatchedValue } from '../changes/schemas.ts'
import { createCollectionComparer, NOTHING_CHANGED } from './collections.ts'
import { createPlaceReader } from './places.ts'
import {
  createSecretRows,
  deleteSubscription,
  enableSubscription,
  findSubscription,
  findTarget,
  insertSubscription,
  listSubscriptions,
  type NewSubscription,
  newSecret,
  renewSecret,
  type SubscriptionRow,
  type WatchedPlace,
} from './queries.ts'
import { defineSubscriptionSchemas, NewSecret, type SubscriptionRequest, WebhookTest } from './schemas.ts'
import { formatMessage, send, workOnSubscriptions } from './work.ts'

const SubscriptionParams = Type.Object({
  id: Type.String({ description: 'The id of the subscription.' }),
})

type SubscriptionById = FastifyRequest<{ Params: { id: string } }>

const CONFIG = { scope: 'account', caching: 'never' } as const

function addUnit({ products }: App, row: SubscriptionRow) {
  return { ...row, unit: products.of(row.product).unit }
}

function existing<Found>(found: Found | undefined | false): Found {
  return requireFound(found, 'You have no subscription with this id.')
}

/** @throws {ApiError} NOT_FOUND for an id that no subscription has */
function readIds(request: SubscriptionById) {
  const { id } = request.params
  return { id: existing(isUuid(id) && id), userId: requireCaller(request).id }
}

type SubscriptionService = Awaited<ReturnType<typeof createService>>

/** Changes a subscription of the caller in a transaction, and records that. */
async function change<Found>(
  { database }: App,
  request: SubscriptionById,
  kind: AuditKind,
  work: (trx: Trx, userId: string, id: string) => Promise<Found | undefined | false>,
): Promise<Found> {
  const { id, userId } = readIds(request)
  return inTransaction(database.writer, async (trx) => {
    const changed = existing(await work(trx, userId, id))
    await request.audit(trx, { kind, detail: { subscription: id } })
    return changed
  })
}

function oneRoutes(app: App, { schemas }: SubscriptionService): void {
  const described = { tags: ['subscriptions'], params: SubscriptionParams }
  const url = '/subscriptions/:id'

  app.route({
    method: 'GET',
    url,
    config: CONFIG,
    schema: {
      operationId: 'getSubscription',
      summary: 'Get a subscription',
      description: 'The subscription, with the last values sent and the state of deliveries.',
      ...described,
      response: answers(schemas.subscription, 'The subscription.', 'NOT_FOUND'),
    },
    handler: async (request: SubscriptionById) => {
      const { id, userId } = readIds(request)
      return addUnit(app, existing(await findSubscription(app.database.writer, userId, id)))
    },
  })

  app.route({
    method: 'DELETE',
    url,
    config: CONFIG,
    schema: {
      operationId: 'deleteSubscription',
      summary: 'Delete a subscription',
      description: 'Nothing more is sent, and what is on its way is not tried again.',
      ...described,
      response: noContent('The subscription is deleted.', 'NOT_FOUND'),
    },
    handler: async (request: SubscriptionById, reply: FastifyReply) => {
      await change(app, request, 'subscription_deleted', deleteSubscription)
      return reply.code(204).send()
    },
  })

  app.route({
    method: 'POST',
    url: `${url}/enable`,
    config: CONFIG,
    schema: {
      operationId: 'enableSubscription',
      summary: 'Enable a subscription again',
      description:
        'Tells of changes again. The last event that was given up is sent once more, with its id, then the changes since.',
      ...described,
      response: answers(schemas.subscription, 'The subscription.', 'NOT_FOUND'),
    },
    handler: async (request: SubscriptionById) => {
      const row = await change(app, request, 'subscription_enabled', enableSubscription)
      app.jobs.wake(row.place.type === 'fields' ? 'compare-collections' : 'compare-subscriptions')
      app.jobs.wake('deliver-changes')
      return addUnit(app, row)
    },
  })
}

function renewRoute(app: App, { seal }: SubscriptionService): void {
  app.route({
    method: 'POST',
    url: '/subscriptions/:id/secret',
    config: { ...CONFIG, idempotent: true, secret: true },
    schema: {
      operationId: 'renewSubscriptionSecret',
      summary: 'Renew the secret of a subscription',
      description:
        'Makes another secret, which is shown once. For a day deliveries are signed with the one before, too.',
      tags: ['subscriptions'],
      params: SubscriptionParams,
      response: answers(NewSecret, 'The secret.', 'NOT_FOUND'),
    },
    handler: async (request: SubscriptionById) => {
      const secret = newSecret()
      await change(app, request, 'subscription_secret_renewed', (trx, userId, id) =>
        renewSecret(trx, userId, id, seal.seal(userId, Buffer.from(secret))),
      )
      return { secret }
    },
  })
}

/** Two at once, then one in ten seconds. */
const testsOfAccount = subjectNamed('webhook test', {
  freeFailures: 1,
  delaySeconds: [10, 10],
  forgottenAfter: { seconds: 600, since: 'first' },
})

/** One a second beyond sixty in ten minutes, of all accounts. */
const testsAtHost = subjectNamed('webhook test at', {
  freeFailures: 60,
  delaySeconds: [1, 1],
  forgottenAfter: { seconds: 600, since: 'first' },
})

/** Sends a message while the owner waits, beside the queue of deliveries and without a second attempt. */
function testRoute(app: App, { rules, seal, throttle }: SubscriptionService): void {
  function formatTest(id: string, row: SubscriptionRow): string {
    const { product, country_code, crop, release } = row
    const series = { product, countryCode: country_code, cropCode: crop }
    const changes = row.values.map((value) => compareValues(value, value.value, value.value))
    const news = row.place.type === 'fields' ? NOTHING_CHANGED : { changes }
    return formatMessage(app, id, { ...row, series, before: release, after: release }, news, true)
  }

  app.route({
    method: 'POST',
    url: '/subscriptions/:id/test',
    config: { ...CONFIG, takesOwnPermit: true },
    schema: {
      operationId: 'testSubscription',
      summary: 'Send a test message to a subscriber',
      description:
        'Posts the values that were told last, as a change by 0 with `data.test` true, signed. The answer has the status of the target. Nothing is sent again. An account may send two at once, then one every 10 seconds.',
      tags: ['subscriptions'],
      params: SubscriptionParams,
      response: answers(WebhookTest, 'The result.', 'NOT_FOUND', 'TOO_MANY_REQUESTS'),
    },
    handler: async (request: SubscriptionById, reply: FastifyReply) => {
      const { id: subscription, userId } = readIds(request)
      const { secret, previousSecret, ...row } = await request.exchange.withDatabasePermit(async () => {
        const target = existing(await findTarget(app.database.writer, userId, subscription))
        await throttle.admit([testsOfAccount(userId), testsAtHost(new URL(target.url).host)])
        return target
      })
      const id = randomUUID()
      const message = { id, userId, url: row.url, body: formatTest(id, row), secret, previousSecret }
      return { id, ...(await send(message, { seal, rules, signal: createClientSignal(reply) })) }
    },
  })
}

type NewSubscriptionRequest = FastifyRequest<{ Body: SubscriptionRequest }>

/** @throws {ApiError} where the request has no place or two, or the place can have no value */
async function readSubscription(
  app: App,
  exchange: Exchange<NewSubscriptionRequest>,
  { lookup, reader, rules }: SubscriptionService,
): Promise<Omit<NewSubscription, 'userId' | 'secret'>> {
  const { request } = exchange
  const given = Object.entries(request.body).filter(([, value]) => value !== null)
  const body = Object.fromEntries(given) as unknown as SubscriptionRequest
  const rule = whyNoTarget(body.url, rules)
  if (rule !== undefined) throw ApiError.invalid('url', rule)
  const place = readPlace(body)
  const { crop, forecast_period } = body
  const country_code = readCountryCode(body)
  const sent = readSeries(app.products.of(body.product), {
    ...(crop && { crop }),
    ...(country_code && { country_code }),
    ...(forecast_period && { forecast_period }),
  })
  const series = { ...sent, cropCode: (await lookup.current()).cropNamed(sent.cropCode) }
  const { name = '', input = null, scenario = null, threshold, url } = body
  const reading: Promise<Reading> =
    place.type === 'fields'
      ? readCollection(exchange, lookup, { series, name: place.collection })
      : reader.readForRequest({ series, place }, exchange)
  const { release, values, layers = values } = await reading.catch(acceptUnpublished)
  if (layers.length > 0) refuseUnknownLayer(layers, { input, scenario })
  const notified = selectWatched(values, { input, scenario })
  return { name, series, place, input, scenario, threshold, url: new URL(url).href, release, notified }
}

interface Reading {
  release: string | null
  values: WatchedValue[]
  /** Those of the values where they are left out. */
  layers?: readonly WatchedLayers[]
}

/** A collection of the caller, whose fields are read with the first new release. @throws {ApiError} NOT_FOUND, or the reason for no release */
async function readCollection(
  exchange: Exchange<NewSubscriptionRequest>,
  lookup: Lookup,
  { series, name }: { series: Series; name: string },
): Promise<Reading> {
  await requireCollection(exchange, name)
  const snapshot = await lookup.current()
  const release = snapshot.releaseOf(series)
  if (!release) throw await exchange.wait(() => lookup.reasons.noRelease(snapshot, series))
  return { release: release.code, values: [], layers: release.layers }
}

/** A subscription may wait for the first release. */
function acceptUnpublished(error: unknown): Reading {
  if (error instanceof ApiError && error.code === 'NO_RELEASE') return { release: null, values: [] }
  throw error
}

function readPlace({ lat, lng, geometry, admin, fields }: SubscriptionRequest): WatchedPlace {
  const given = [lat ?? lng, geometry, admin, fields].map((part) => part !== undefined)
  if (given.filter(Boolean).length !== 1) {
    throw new ApiError(
      'INVALID_PARAMETERS',
      'Send either lat and lng, a point; geometry, a GeoJSON polygon; admin, an administrative area; or fields, a collection of saved fields.',
      [{ field: 'lat', message: 'exactly one of lat and lng, geometry, admin and fields must be sent' }],
    )
  }
  if (fields !== undefined) return { type: 'fields', collection: fields }
  if (geometry !== undefined) {
    const outline = readGeoJson(soleFeature({ value: geometry, at: 'geometry' }))
    return { type: 'polygon', geometry: toGeoJson(outline) }
  }
  if (admin !== undefined) return { type: 'area', code: admin.code.trim(), level: admin.level ?? null }
  if (lat === undefined) throw ApiError.invalid('lat', 'is required beside lng')
  if (lng === undefined) throw ApiError.invalid('lng', 'is required beside lat')
  return { type: 'point', lat, lng }
}

/** A polygon of about 1,500 vertices: stored places are smaller than those of one request. */
const BODY_LIMIT = 65_536

const DESCRIPTION = `
Sends changes of the values at a place to your address. After each change of a release, the service compares the values with the last ones sent. Differences over the threshold are posted within a few minutes.

The place is a point (\`lat\`, \`lng\`), a polygon (\`geometry\`), an administrative area (\`admin\`) or a collection of saved fields (\`fields\`; a key needs \`history\` too); all but points are watched by their means. \`input\` and \`scenario\` watch one of several layers.

Fields are compared in the release of before and the new one, as by \`GET /fields/{collection}/changes\`. One event names the changed ones.

**Deliveries** are POSTs in the format of Standard Webhooks, with a CloudEvents event as \`application/cloudevents+json\`. Verify \`webhook-signature\` with the \`secret\`, which is shown once, and answer 2xx within 10 seconds. Failed deliveries are repeated for a day with the same \`webhook-id\`, so an event may come twice. A 410, or a day of failures, disables the subscription.

Targets are public \`https\` addresses; redirects are not followed. The rules for receivers are in the guide.`

export async function subscriptionRoutes(
  app: App,
  { lookup, advisors }: { lookup: Lookup; advisors: Advisors },
): Promise<void> {
  const service = await createService(app, lookup, advisors)
  for (const schema of [...service.schemas.components, WebhookTest]) app.addSchema(schema)
  createRoute(app, service)
  listRoute(app, service)
  oneRoutes(app, service)
  renewRoute(app, service)
  testRoute(app, service)
}

/** Webhooks of accounts go to the port of HTTPS alone, so that they knock at no other service. */
const WEBHOOK_PORTS = [443]

async function createService(app: App, lookup: Lookup, advisors: Advisors) {
  const { writer } = app.database
  const rules = { ports: WEBHOOK_PORTS, allowPrivate: app.config.WEBHOOK_ALLOW_PRIVATE }
  const secrets = await loadSecrets(app.config)
  const seal = createAccountSeal(secrets, 'webhook secret')
  if (secrets.length > 1) {
    renewWhenReady(app, seal, createSecretRows(writer), 'secrets of subscriptions', app.log)
  }
  const reader = createPlaceReader(app, lookup, advisors)
  const compare = createCollectionComparer(app, lookup, advisors)
  workOnSubscriptions(app, { reader, compare, rules, seal })
  const schemas = defineSubscriptionSchemas(app.products.list)
  return { lookup, reader, rules, seal, throttle: createThrottle(writer), schemas }
}

function createRoute(app: App, service: SubscriptionService): void {
  const { seal, schemas } = service
  const limits = findLimits('subscription', app.config)

  app.route({
    method: 'POST',
    url: '/subscriptions',
    bodyLimit: BODY_LIMIT,
    config: { ...CONFIG, idempotent: true, secret: true, takesOwnPermit: true },
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
          'INVALID_GEOMETRY',
          'NOT_FOUND',
          'CROP_NOT_AVAILABLE',
          'UNKNOWN_AREA',
          'OUTSIDE_COUNTRY',
          'NO_DATA',
          ...limits.codes,
          'QUERY_TIMEOUT',
        ),
      },
    },
    handler: async (request: NewSubscriptionRequest, reply: FastifyReply) => {
      const { id: userId } = requireCaller(request)
      const subscription = await readSubscription(app, request.exchange, service)
      const secret = newSecret()
      const made = { ...subscription, userId, secret: seal.seal(userId, Buffer.from(secret)) }
      const row = await request.exchange.withDatabasePermit(() =>
        inTransaction(app.database.writer, async (trx) => {
          const inserted = await limits.add(trx, userId, () => insertSubscription(trx, made))
          const detail = { subscription: inserted.id, host: new URL(subscription.url).host }
          await request.audit(trx, { kind: 'subscription_made', detail })
          return inserted
        }),
      )
      reply.code(201).header('location', `${request.basePath}/subscriptions/${row.id}`)
      return { ...addUnit(app, row), secret }
    },
  })
}

function listRoute(app: App, { schemas }: SubscriptionService): void {
  app.route({
    method: 'GET',
    url: '/subscriptions',
    config: CONFIG,
    schema: {
      operationId: 'listSubscriptions',
      summary: 'List your subscriptions',
      description:
        'All subscriptions, the newest first, with the last values sent and the state of deliveries.',
      tags: ['subscriptions'],
      response: answers(schemas.list, 'The subscriptions.'),
    },
    handler: async (request: FastifyRequest) => {
      const rows = await listSubscriptions(app.database.writer, requireCaller(request).id)
      return { items: rows.map((row) => addUnit(app, row)), next_cursor: null }
    },
  })
}
