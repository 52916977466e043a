import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { PointAnswerTable, ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { asQuery, PLAIN_PARAMETERS, POINT_DEFAULTS, PointRequest, queryOf } from '#schemas/point-request.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { AdvisoryRecord, RecordAdvisory } from '#src/history/queries.ts'
import { sayHistoryFull } from '#src/history/recorded-answer.ts'
import type { App } from '#src/http/app.ts'
import { entityTag, isCurrent } from '#src/http/entity-tags.ts'
import { CSV } from '#src/http/formats.ts'
import { ignoredMember, ignoredNoter, mergeQueryIntoBody, readQuery } from '#src/http/parameters.ts'
import { permits } from '#src/http/plugins/authentication.ts'
import { allowCaching, dataTag } from '#src/http/plugins/caching.ts'
import { IDEMPOTENCY_ERRORS, idempotencyKeyOf } from '#src/http/plugins/idempotency.ts'
import { SHARE_OF_EXTRAS, withTimeout } from '#src/http/plugins/time-budget.ts'
import { createReplyBatcher } from '#src/http/reply-batcher.ts'
import { clientKeyOf, isOffTheRecord, prefers, sayApplied, varyBy } from '#src/http/request.ts'
import { openText } from '#src/lib/json.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { codesIn } from '#src/lookup/pinned-request.ts'
import { type Placeable, sourceMember } from '#src/lookup/places.ts'
import { positionOf, seriesOf, versionOf } from '#src/lookup/releases.ts'
import { asksForQuantities } from '../quantities/plan.ts'
import { ExtendedAnswer, type PointAnswer } from './answer.ts'
import { CITED, commonOf, type PointEndpoint, withTextOfReasons } from './endpoints.ts'
import { wantsProvenance, withProvenance } from './provenance.ts'
import { replyInText, wantsText } from './short-text.ts'

/**
 * The tag of an answer that is made of nothing but releases and what was asked. A release never changes, but for
 * becoming stale, so that the tag can be told before the answer is known, if there is one.
 *
 * @param versions of the releases
 */
function tagOfReleases(
  call: FastifyRequest,
  path: string,
  request: PointRequest,
  versions: string[],
): string {
  const { lat, lng, name = POINT_DEFAULTS.name, provenance } = request
  const more = [...(provenance ? ['provenance'] : []), ...Object.values(sourceMember(request))]
  return dataTag(call, path, name, String(lat), String(lng), ...versions, ...more)
}

/** The tag of any answer. Reasons and quantities come from more than the releases: they are tagged by their text. */
function tagOf(
  call: FastifyRequest,
  path: string,
  request: PointRequest,
  { versions, complete, body }: PointAnswer,
): string {
  return complete ? tagOfReleases(call, path, request, versions) : entityTag(JSON.stringify(body))
}

/** The tags that a client has answers of; `*` stands for whatever there is, and does not say which. */
function namedTags({ headers }: FastifyRequest): string | undefined {
  const tags = headers['if-none-match']
  return tags?.trim() === '*' ? undefined : tags
}

/**
 * Does two steps of an answer one after the other, and says how long each took, in milliseconds, and how
 * long it has been since the request arrived.
 */
async function withTiming<Answer>(
  reply: FastifyReply,
  findRelease: () => Promise<unknown>,
  findValues: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const started = performance.now()
  await findRelease()
  const released = performance.now()
  const answer = await findValues()
  const ended = performance.now()
  const steps = { release: released - started, values: ended - released, total: reply.elapsedTime }
  const text = Object.entries(steps).map(([name, duration]) => `${name};dur=${duration.toFixed(3)}`)
  reply.headers({
    'server-timing': text.join(', '),
    'timing-allow-origin': reply.server.config.CORS_ORIGINS.join(', '),
    // The next one to ask would be told of this one's time.
    'cache-control': 'no-store',
  })
  sayApplied(reply, 'server-timing')
  return answer
}

/**
 * Puts into a request what the release that it names says itself, or else the place, as if it had been sent.
 *
 * @throws {ApiError} where there is no such release, or it is of something else than is asked for
 */
async function settle(
  endpoint: PointEndpoint,
  lookup: Lookup,
  request: PointRequest,
  call: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (request.release !== undefined) {
    Object.assign(request, await endpoint.settled(lookup, request, call, reply))
  } else if (endpoint.inAnyCountry && !lookup.places.fillFromMemory(request, positionOf(request))) {
    await withTimeout(call, reply, () => lookup.places.fill(request, positionOf(request), clientKeyOf(call)))
  }
}

/** @throws {ApiError} which says why there is no answer */
async function answerTo(
  endpoint: PointEndpoint,
  lookup: Lookup,
  request: PointRequest,
  call: FastifyRequest,
  reply: FastifyReply,
): Promise<PointAnswer> {
  await settle(endpoint, lookup, request, call, reply)

  async function answer(): Promise<PointAnswer> {
    const fromDatabase = () => endpoint.answer(lookup, request, clientKeyOf(call))
    const found = endpoint.fromMemory(lookup, request) ?? (await withTimeout(call, reply, fromDatabase))
    if (found instanceof Error) throw found
    return request.provenance ? withProvenance(lookup, request, found, call, reply) : found
  }
  const found = prefers(call, 'server-timing')
    ? await withTiming(
        reply,
        () => withTimeout(call, reply, () => versionsOf(endpoint, lookup, request)),
        answer,
      )
    : await answer()
  return namingReleases(found, reply)
}

/** The versions of the releases that would answer now; undefined where not all products have one. */
async function versionsOf(
  { products }: PointEndpoint,
  lookup: Lookup,
  request: PointRequest,
): Promise<string[] | undefined> {
  const { release } = request
  const found = await Promise.all(
    release === undefined
      ? products.map((product) => lookup.releaseOf(seriesOf(product, request)))
      : codesIn(release).map(async (code) => (await lookup.namedRelease(code)).release),
  )
  const versions = found.flatMap((release) => (release ? versionOf(release) : []))
  return versions.length === products.length ? versions : undefined
}

/** Whether a client has what the releases of now say, which is known before any value is looked up. */
async function isUnchanged(
  endpoint: PointEndpoint,
  lookup: Lookup,
  request: PointRequest,
  call: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  await settle(endpoint, lookup, request, call, reply)
  // Quantities come from more than the releases.
  const tags = asksForQuantities(request) ? undefined : namedTags(call)
  const find = () => versionsOf(endpoint, lookup, request)
  const versions = tags === undefined ? undefined : await withTimeout(call, reply, find)
  if (!versions) return false
  const tag = tagOfReleases(call, endpoint.path, request, versions)
  return isCurrent(tags, tag) && allowCaching(call, reply, tag)
}

/** Says which releases have answered. */
function namingReleases(answer: PointAnswer, reply: FastifyReply): PointAnswer {
  reply.header('advisory-release', answer.releases.join(', '))
  return answer
}

/** The rest of the rules stands once, at the tag. */
const POST_RULES = `

Parameters stand in the body, the query or both; the body wins. The tag \`advisory\` has the rules.`

const GET_RULES =
  'Answers as POST does, from the query, for clients and proxies that cache. The tag `advisory` has the rules.'

/**
 * Keeps the answer of a public endpoint for a caller with a token, and says in it under which id. Where
 * it cannot be kept, the answer goes out as it would to anybody: the advice is what was asked for. HEAD
 * asks for no advice, and nothing is kept of it; nor for a key without the scope.
 *
 * @param asked the parameters that were answered
 */
async function recordForCaller(
  record: RecordAdvisory,
  request: FastifyRequest,
  reply: FastifyReply,
  { recorded }: PointEndpoint,
  asked: PointRequest,
  given: PointAnswer,
): Promise<PointAnswer> {
  const { user, method } = request
  if (user === null || method === 'HEAD') return given
  if (!permits(user, 'history') || isOffTheRecord(request, reply)) return given
  try {
    const answer = given.templated?.() ?? given.text()
    const { product, countryCode, cropCode } = seriesOf(recorded, asked)
    const { country_source: _, ...sent } = asked as PointRequest & Placeable
    const advisory: AdvisoryRecord = {
      userId: user.id,
      product,
      kind: 'point',
      countryCode,
      cropCode,
      releases: given.releases,
      request: sent,
      answer,
    }
    const kept = await withTimeout(
      request,
      reply,
      () => record(advisory, clientKeyOf(request)),
      SHARE_OF_EXTRAS,
    )
    const open = typeof answer === 'string' ? openText(answer) : answer.open
    if (typeof kept === 'string') return new ExtendedAnswer(given, { history_id: kept }, open)
    sayHistoryFull(reply, kept)
  } catch (error) {
    request.server.logFailure(error, 'an advisory could not be kept', request.log)
  }
  return given
}

/** A documented answer in JSON that may also be a table. */
function alsoAsTable(success: { description: string; headers: object; content: object }) {
  return {
    ...success,
    content: {
      ...success.content,
      'text/csv': { schema: ref(PointAnswerTable) },
    },
  }
}

/**
 * Whether a call asks for a table.
 *
 * @throws {ApiError} INVALID_PARAMETERS where it also asks for what a table has no columns for
 */
function wantsTable({ format, provenance }: { format?: string; provenance?: boolean }): boolean {
  if (format !== 'csv') return false
  if (provenance !== true) return true
  throw ApiError.invalid('provenance', 'must be left out for CSV, which has no columns for it')
}

/** Sends an answer as a table. */
function sendTable(answer: PointAnswer, reply: FastifyReply): FastifyReply {
  return reply.header('content-type', CSV.contentType).send(answer.table?.())
}

type PostCall = FastifyRequest<{ Body: PointRequest }>
type GetCall = FastifyRequest<{ Querystring: PointRequest & { format?: 'json' | 'csv' } }>

/** Answers, and records what callers with a token are answered. */
interface Point {
  lookup: Lookup
  record: RecordAdvisory
  /** Sends an answer or an error together with the others of this turn. */
  sendSoon(answer: PointAnswer | Error, reply: FastifyReply): void
}

/** The endpoints that answer for one point: by POST, and by GET to be cached. */
export function pointRoutes(
  app: App,
  endpoints: PointEndpoint[],
  lookup: Lookup,
  record: RecordAdvisory,
): void {
  const point = { lookup, record, sendSoon: createReplyBatcher(app.turns, send) }
  for (const endpoint of endpoints) {
    app.route(postRoute(endpoint, point))
    app.route(getRoute(endpoint, point))
  }
}

function postRoute(endpoint: PointEndpoint, { lookup, record, sendSoon }: Point) {
  const { path, name, request, remainder, summary, description } = endpoint
  const { errors, success, config, operation } = commonOf(endpoint)

  /** What is answered from memory is so without a promise; undefined where the database has to be asked. */
  function fromMemory(call: PostCall, reply: FastifyReply): PointAnswer | Error | undefined {
    if (wantsProvenance(call, call.body, reply) || prefers(call, 'server-timing')) return undefined
    const answer = endpoint.fromMemory(lookup, call.body)
    return answer === undefined || answer instanceof Error ? answer : namingReleases(answer, reply)
  }

  async function answerSoon(call: PostCall, reply: FastifyReply): Promise<void> {
    sendSoon(await answerTo(endpoint, lookup, call.body, call, reply).catch(asError), reply)
  }

  function recorded(call: PostCall, reply: FastifyReply, answer: PointAnswer): Promise<PointAnswer> {
    return recordForCaller(record, call, reply, endpoint, call.body, answer)
  }

  async function recordSoon(call: PostCall, reply: FastifyReply): Promise<void> {
    try {
      const found = fromMemory(call, reply) ?? (await answerTo(endpoint, lookup, call.body, call, reply))
      sendSoon(found instanceof Error ? found : await recorded(call, reply, found), reply)
    } catch (error) {
      sendSoon(asError(error), reply)
    }
  }

  function recordOnce(call: PostCall, reply: FastifyReply): Promise<PointAnswer['body']> {
    return call.server.once(call, reply, async () => {
      wantsProvenance(call, call.body, reply)
      const found = await answerTo(endpoint, lookup, call.body, call, reply)
      return { ...(await recorded(call, reply, found)).body, ...ignoredMember(call) }
    })
  }

  function textSoon(call: PostCall, reply: FastifyReply): void {
    const asked = { request: call.body, products: endpoint.products, isShared: false }
    const bodyOf = async () =>
      call.user ? recordOnce(call, reply) : (await answerTo(endpoint, lookup, call.body, call, reply)).body
    replyInText(call, reply, asked, bodyOf).catch((error) => sendSoon(asError(error), reply))
  }

  return {
    method: 'POST',
    url: path,
    config: { ...config, idempotent: true },
    schema: {
      ...operation,
      operationId: `${name}AtPoint`,
      summary,
      description: description + POST_RULES,
      queryAlternative: asQuery(request, PLAIN_PARAMETERS),
      body: ref(request),
      bodyRemainder: ref(remainder),
      response: {
        200: success,
        ...withTextOfReasons(errorResponses(...errors, ...IDEMPOTENCY_ERRORS, ...BODY_ERRORS)),
      },
    },
    preValidation: mergeQueryIntoBody(request, ignoredHook(request)),
    handler(call: PostCall, reply: FastifyReply) {
      // Nothing of an anonymous call is kept, so its key does nothing; one that is none is refused all the same.
      const key = idempotencyKeyOf(call)
      if (wantsText(call)) {
        textSoon(call, reply)
        return undefined
      }
      if (call.user !== null) {
        if (key !== undefined) return recordOnce(call, reply)
        void recordSoon(call, reply)
        return undefined
      }
      const answer = fromMemory(call, reply)
      if (answer === undefined) void answerSoon(call, reply)
      else sendSoon(answer, reply)
      return undefined
    },
  } as const
}

function getRoute(endpoint: PointEndpoint, { lookup, record }: Point) {
  const { path, name, query, summary } = endpoint
  const { errors, success, config, operation } = commonOf(endpoint)
  const cited = { ...success, headers: { ...success.headers, Link: CITED } }
  return {
    method: 'GET',
    url: path,
    config: { ...config, caching: 'shared' },
    schema: {
      ...operation,
      operationId: `get${name.charAt(0).toUpperCase()}${name.slice(1)}AtPoint`,
      summary: `${summary}, to be cached`,
      description: GET_RULES,
      querystring: queryOf(query),
      response: {
        200: 'format' in query.properties ? alsoAsTable(cited) : cited,
        304: {
          type: 'null',
          description: 'The answer is the one that `If-None-Match` names.',
          headers: { 'Advisory-Release': ReleaseHeader },
        },
        ...withTextOfReasons(errorResponses(...errors)),
      },
    },
    preValidation: readQuery(query, ignoredHook(query)),
    handler: async (call: GetCall, reply: FastifyReply) => {
      const { format, ...query } = call.query
      const isTable = wantsTable(call.query)
      // A table is another answer than JSON: it has tags of its own.
      const named = isTable ? { ...endpoint, path: `${path}.csv` } : endpoint
      const preferred = !isTable && query.provenance !== true && wantsProvenance(call, query, reply)
      // Whoever sends a token is to be asked for it again, also while it cannot be looked up. Nor does a cache know what
      // was preferred.
      const shared = call.headers.authorization === undefined && !preferred
      if (format === undefined && wantsText(call)) {
        const asked = { request: query, products: endpoint.products, isShared: shared }
        return replyInText(call, reply, asked, async () => {
          const answer = await answerTo(endpoint, lookup, query, call, reply)
          const kept = await recordForCaller(record, call, reply, endpoint, query, answer)
          citeIn(reply, call)
          return kept.body
        })
      }
      varyBy(reply, 'Accept')
      if (shared && (await isUnchanged(named, lookup, query, call, reply))) return reply.code(304).send()
      const answer = await answerTo(endpoint, lookup, query, call, reply)
      const kept =
        call.user === null ? answer : await recordForCaller(record, call, reply, endpoint, query, answer)
      if (shared && allowCaching(call, reply, tagOf(call, named.path, query, answer)))
        return reply.code(304).send()
      citeIn(reply, call)
      return isTable ? sendTable(answer, reply) : send(kept, reply)
    },
  } as const
}

/** Says where an answer is found again, if the request names a release. The address is relative: a cache may keep it. */
function citeIn(reply: FastifyReply, { basePath, url, server, query }: GetCall): void {
  if (query.release === undefined) return
  reply.header('link', `<${basePath}${url.slice(server.config.BASE_PATH.length)}>; rel="cite-as"`)
}

/** Notes what an endpoint for points does not know. One body serves all of them: what others know is not noted. */
function ignoredHook(request: TObject) {
  return ignoredNoter(Object.keys({ ...PointRequest.properties, ...request.properties }))
}

/** Sends what needs nothing more. */
function send(answer: PointAnswer | Error, reply: FastifyReply): FastifyReply {
  if (answer instanceof Error) return reply.send(answer)
  const { ignored } = reply.request
  const whole = ignored === null ? answer : new ExtendedAnswer(answer, { ignored: ignored.list })
  return reply.header('content-type', 'application/json; charset=utf-8').send(whole.text())
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
