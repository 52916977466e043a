import type { FastifyReply, FastifyRequest } from 'fastify'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import type { RecordAdvisory } from '#src/history/queries.ts'
import { sayHistoryFull } from '#src/history/recorded-answer.ts'
import type { App } from '#src/http/app.ts'
import { entityTag, isCurrent } from '#src/http/entity-tags.ts'
import { CSV, prefersText } from '#src/http/formats.ts'
import { ignoredMember } from '#src/http/parameters.ts'
import { permits } from '#src/http/plugins/authentication.ts'
import { allowCaching, dataTag } from '#src/http/plugins/caching.ts'
import { readIdempotencyKey } from '#src/http/plugins/idempotency.ts'
import { SHARE_OF_EXTRAS, withTimeout } from '#src/http/plugins/time-budget.ts'
import { createReplyBatcher } from '#src/http/reply-batcher.ts'
import { clientKeyOf, isOffTheRecord, prefers, setApplied, varyBy } from '#src/http/request.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { splitCodes } from '#src/lookup/pinned-request.ts'
import { type LocatableRequest, sourceMember } from '#src/lookup/places.ts'
import { positionOf, readSeries, versionOf } from '#src/lookup/releases.ts'
import { asksForQuantities } from '../quantities/plan.ts'
import type { PointAnswer, PointAnswerer } from './answer.ts'
import { findProvenance } from './provenance.ts'
import { replyInText } from './short-text.ts'

/** The answers of an endpoint for points. */
export interface PointSource extends PointAnswerer {
  /** The path of the endpoint; tags of answers contain it. */
  path: string
  products: readonly ProductDefinition[]
  /** The product code of the history. */
  recorded: Pick<ProductDefinition, 'code' | 'seasonal'>
  /** Whether a missing country is that of the point, and not the first of the interface. */
  inAnyCountry: boolean
}

/** A request for a point, and its way to an answer. */
interface PointContext {
  lookup: Lookup
  record: RecordAdvisory
  source: PointSource
  /** The parameters: the body or the query. */
  point: PointRequest
  request: FastifyRequest
  reply: FastifyReply
}

/**
 * Completes a request with the members of the release that it names, or else of the place.
 *
 * @throws {ApiError} for an unknown release, and one that does not fit the request
 */
async function settle({ source, lookup, point, request, reply }: PointContext): Promise<void> {
  if (point.release !== undefined) {
    Object.assign(point, await source.readRelease(lookup, point, request, reply))
  } else if (source.inAnyCountry && !lookup.places.fillFromMemory(point, positionOf(point))) {
    await withTimeout(request, reply, () => lookup.places.fill(point, positionOf(point)))
  }
}

/** @throws {ApiError} the reason for no answer */
async function findAnswer(context: PointContext): Promise<PointAnswer> {
  await settle(context)
  const { request, reply } = context
  const answer = prefers(request, 'server-timing') ? await findTimed(context) : await findValues(context)
  return nameReleases(answer, reply)
}

async function findValues({ source, lookup, point, request, reply }: PointContext): Promise<PointAnswer> {
  const fromDatabase = () => source.answer(lookup, point, clientKeyOf(request))
  const answer = source.fromMemory(lookup, point) ?? (await withTimeout(request, reply, fromDatabase))
  if (answer instanceof Error) throw answer
  if (point.provenance) {
    answer.add({ provenance: await findProvenance(lookup, point, answer.advice, request, reply) })
  }
  return answer
}

/** Adds the milliseconds of the release, of the values, and since the request arrived. */
async function findTimed(context: PointContext): Promise<PointAnswer> {
  const { request, reply } = context
  const started = performance.now()
  await withTimeout(request, reply, () => findVersions(context))
  const released = performance.now()
  const answer = await findValues(context)
  const ended = performance.now()
  const steps = { release: released - started, values: ended - released, total: reply.elapsedTime }
  const text = Object.entries(steps).map(([name, duration]) => `${name};dur=${duration.toFixed(3)}`)
  reply.headers({
    'server-timing': text.join(', '),
    'timing-allow-origin': reply.server.config.CORS_ORIGINS.join(', '),
    // A cache would repeat the times of this request.
    'cache-control': 'no-store',
  })
  setApplied(reply, 'server-timing')
  return answer
}

/** The versions of the releases that would answer now; undefined where a product lacks one. */
async function findVersions({ source, lookup, point }: PointContext): Promise<string[] | undefined> {
  const { products } = source
  const releases = await Promise.all(
    point.release === undefined
      ? products.map((product) => lookup.releaseOf(readSeries(product, point)))
      : splitCodes(point.release).map(async (code) => (await lookup.namedRelease(code)).release),
  )
  const versions = releases.flatMap((release) => (release ? versionOf(release) : []))
  return versions.length === products.length ? versions : undefined
}

function nameReleases(answer: PointAnswer, reply: FastifyReply): PointAnswer {
  reply.header('advisory-release', answer.releases.join(', '))
  return answer
}

/** Applies `Prefer: return=provenance` to a request, so that the history stores it as a parameter. */
function applyPreference(request: FastifyRequest, point: PointRequest, reply: FastifyReply): boolean {
  if (!point.provenance && prefers(request, 'return=provenance')) {
    point.provenance = true
    setApplied(reply, 'return=provenance')
  }
  return point.provenance === true
}

/**
 * Stores an answer for a caller with a token and the scope, and adds its id. The answer goes out without an id where
 * it cannot be stored. HEAD asks for no advice, so nothing is stored.
 */
async function store(context: PointContext, answer: PointAnswer): Promise<PointAnswer> {
  const { record, source, point, request, reply } = context
  const { user, method } = request
  if (user === null || method === 'HEAD') return answer
  if (!permits(user, 'history') || isOffTheRecord(request, reply)) return answer
  try {
    const { product, countryCode, cropCode } = readSeries(source.recorded, point)
    const { country_source: _, ...sent } = point as PointRequest & LocatableRequest
    const advisory = {
      userId: user.id,
      product,
      kind: 'point' as const,
      countryCode,
      cropCode,
      releases: answer.releases,
      request: sent,
      answer: answer.stored(),
    }
    const insert = () => record(advisory)
    const stored = await withTimeout(request, reply, insert, SHARE_OF_EXTRAS)
    if (typeof stored === 'string') answer.add({ history_id: stored })
    else sayHistoryFull(reply, stored)
  } catch (error) {
    request.server.logFailure(error, 'an advisory could not be kept', request.log)
  }
  return answer
}

function send(answer: PointAnswer | Error, reply: FastifyReply): FastifyReply {
  if (answer instanceof Error) return reply.send(answer)
  const { ignored } = reply.request
  if (ignored !== null) answer.add({ ignored: ignored.list })
  return reply.header('content-type', 'application/json; charset=utf-8').send(answer.text())
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

/** Handles a POST for a point, and answers by `reply` or by the body that it returns. */
type HandlePost = (
  request: FastifyRequest<{ Body: PointRequest }>,
  reply: FastifyReply,
) => Promise<PointAnswer['body']> | undefined

/**
 * Makes the handlers of POST. An answer from memory takes no promise, and the answers of a turn of the event loop
 * leave together.
 */
export function createPostHandlers(
  { turns }: App,
  lookup: Lookup,
  record: RecordAdvisory,
): (source: PointSource) => HandlePost {
  const sendSoon = createReplyBatcher(turns, send)

  function fromMemory({ source, point, request, reply }: PointContext): PointAnswer | Error | undefined {
    if (applyPreference(request, point, reply) || prefers(request, 'server-timing')) return undefined
    const answer = source.fromMemory(lookup, point)
    return answer === undefined || answer instanceof Error ? answer : nameReleases(answer, reply)
  }

  function answerOnce(context: PointContext): Promise<PointAnswer['body']> {
    const { point, request, reply } = context
    return request.server.once(request, reply, async () => {
      applyPreference(request, point, reply)
      const answer = await store(context, await findAnswer(context))
      return { ...answer.body, ...ignoredMember(request) }
    })
  }

  async function answerInText(context: PointContext): Promise<FastifyReply> {
    const { source, point, request, reply } = context
    const question = { point, products: source.products, isShared: false }
    return replyInText(request, reply, question, async () =>
      request.user ? answerOnce(context) : (await findAnswer(context)).body,
    )
  }

  async function answerAndStore(context: PointContext): Promise<void> {
    const found = fromMemory(context) ?? (await findAnswer(context))
    sendSoon(found instanceof Error ? found : await store(context, found), context.reply)
  }

  return (source) => (request, reply) => {
    const context = { lookup, record, source, point: request.body, request, reply }
    const fail = (error: unknown) => sendSoon(toError(error), reply)
    // Anonymous answers are not stored, so their key does nothing; an invalid key is refused all the same.
    const key = readIdempotencyKey(request)
    if (prefersText(request, 'text/plain')) {
      answerInText(context).catch(fail)
    } else if (request.user !== null) {
      if (key !== undefined) return answerOnce(context)
      answerAndStore(context).catch(fail)
    } else {
      const answer = fromMemory(context)
      if (answer !== undefined) sendSoon(answer, reply)
      else findAnswer(context).then((found) => sendSoon(found, reply), fail)
    }
    return undefined
  }
}

/** Handles a GET for a point, whose answer caches may store. */
export async function handleGet(
  lookup: Lookup,
  record: RecordAdvisory,
  source: PointSource,
  request: FastifyRequest<{ Querystring: PointRequest & { format?: 'json' | 'csv' } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { format, ...point } = request.query
  const isTable = format === 'csv'
  if (isTable && point.provenance) {
    throw ApiError.invalid('provenance', 'must be left out for CSV, which has no columns for it')
  }
  // A table has tags of its own.
  const tagged = isTable ? { ...source, path: `${source.path}.csv` } : source
  const context = { lookup, record, source: tagged, point, request, reply }
  const isPreferred = !isTable && point.provenance !== true && applyPreference(request, point, reply)
  // A request with a token needs its check each time, and caches ignore preferences.
  const isShared = request.headers.authorization === undefined && !isPreferred
  if (format === undefined && prefersText(request, 'text/plain')) {
    return replyInText(request, reply, { point, products: source.products, isShared }, async () => {
      const answer = await store(context, await findAnswer(context))
      cite(reply, request, point)
      return answer.body
    })
  }
  varyBy(reply, 'Accept')
  if (isShared && (await isUnchanged(context))) return reply.code(304).send()
  const answer = await findAnswer(context)
  const tag = isShared ? createTag(context, answer) : undefined
  await store(context, answer)
  if (tag !== undefined && allowCaching(request, reply, tag)) return reply.code(304).send()
  cite(reply, request, point)
  if (!isTable) return send(answer, reply)
  return reply.header('content-type', CSV.contentType).send(answer.table())
}

/** Whether the client has the answer of the present releases, before any value is looked up. */
async function isUnchanged(context: PointContext): Promise<boolean> {
  await settle(context)
  const { point, request, reply } = context
  const tags = request.headers['if-none-match']
  // `*` names no answer, and quantities depend on more than the releases.
  if (tags === undefined || tags.trim() === '*' || asksForQuantities(point)) return false
  const versions = await withTimeout(request, reply, () => findVersions(context))
  if (!versions) return false
  const tag = createReleaseTag(context, versions)
  return isCurrent(tags, tag) && allowCaching(request, reply, tag)
}

/** A tag of releases where they decide on the answer, else of its text. */
function createTag(context: PointContext, { isComplete, versions, body }: PointAnswer): string {
  return isComplete ? createReleaseTag(context, versions) : entityTag(JSON.stringify(body))
}

/** The tag of an answer before it is known: a release never changes, but its season ends. */
function createReleaseTag({ source, point, request }: PointContext, versions: string[]): string {
  const { lat, lng, name = POINT_DEFAULTS.name, provenance } = point
  const further = [...(provenance ? ['provenance'] : []), ...Object.values(sourceMember(point))]
  return dataTag(request, source.path, name, String(lat), String(lng), ...versions, ...further)
}

/** Links the answer itself, if the request names a release. The address is relative, so that caches may store it. */
function cite(reply: FastifyReply, { basePath, url, server }: FastifyRequest, point: PointRequest): void {
  if (point.release === undefined) return
  reply.header('link', `<${basePath}${url.slice(server.config.BASE_PATH.length)}>; rel="cite-as"`)
}
