import type { FastifyReply, FastifyRequest } from 'fastify'
import { HistoryHeader, ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { asQuery, type PointRequest, queryOf } from '#schemas/point-request.ts'
import { ShortText } from '#schemas/short-text.ts'
import type { RecordAdvisory } from '#src/domains/history/queries.ts'
import { BODY_ERRORS, type DocumentedError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { mergeQueryIntoBody, readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { IDEMPOTENCY_ERRORS, idempotencyKeyOf } from '#src/http/plugins/idempotency.ts'
import { OPTIONAL_TOKEN } from '#src/http/plugins/openapi.ts'
import { prefers } from '#src/http/preferences.ts'
import { createReplyBatcher } from '#src/http/reply-batcher.ts'
import { varyBy } from '#src/http/vary.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { exampleReasonsOf } from '../lookup/example-reasons.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { PointAnswer } from './answer.ts'
import { answerTo, isUnchanged, namingReleases } from './answering.ts'
import { tagOf } from './conditional.ts'
import { GET_RULES, MORE_FORMS, POST_RULES, RECORDED } from './descriptions.ts'
import type { PointEndpoint } from './endpoints.ts'
import { wantsProvenance } from './provenance.ts'
import { recordForCaller } from './record.ts'
import { replyInText, wantsText } from './short-text/reply.ts'
import { alsoAsTable, sendTable, wantsTable } from './table-answer.ts'

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

/** What the two operations of an endpoint have in common. */
function commonOf({ needsCrop, products, response }: PointEndpoint) {
  const errors: DocumentedError[] = [
    'INVALID_PARAMETERS',
    ...(needsCrop ? (['CROP_NOT_AVAILABLE'] as const) : []),
    ...exampleReasonsOf(products[0] as ProductDefinition, 'point'),
    'RELEASE_GONE',
  ]
  return {
    errors,
    success: {
      description: 'The values at the point.',
      headers: { 'Advisory-Release': ReleaseHeader, 'Advisory-History': HistoryHeader, ...OF_TEXT },
      content: { 'application/json': { schema: ref(response) }, 'text/plain': { schema: ref(ShortText) } },
    },
    config: {
      public: true,
      scope: 'advisory',
      preferences: ['history=none', 'server-timing', 'return=provenance'],
      ownTurns: true,
    },
    operation: { tags: ['advisory'], security: OPTIONAL_TOKEN },
  } as const
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
      return (await recorded(call, reply, found)).body
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
      description: description + POST_RULES + MORE_FORMS + RECORDED,
      queryAlternative: asQuery(request),
      body: ref(request),
      bodyRemainder: ref(remainder),
      response: {
        200: success,
        ...withTextOfReasons(errorResponses(...errors, ...IDEMPOTENCY_ERRORS, ...BODY_ERRORS)),
      },
    },
    preValidation: mergeQueryIntoBody(request),
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
  const { path, name, query, summary, description } = endpoint
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
      description: description + GET_RULES + MORE_FORMS + RECORDED,
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
    preValidation: readQuery(query),
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
      if (shared && allowCaching(call, reply, tagOf(named.path, query, answer))) return reply.code(304).send()
      citeIn(reply, call)
      return isTable ? sendTable(answer, reply) : send(kept, reply)
    },
  } as const
}

/** What is said of an answer that may be a text message. */
const OF_TEXT = {
  'Content-Language': { type: 'string', description: 'The language of a text message.' },
  Vary: { type: 'string', description: 'The headers of the request that the answer depends on.' },
}

const CITED = {
  type: 'string',
  description:
    'The address of the answer itself (`rel="cite-as"`), where the request names a release: it answers the same as long as the release is there.',
}

/** Says where an answer is found again, if the request names a release. The address is relative: a cache may keep it. */
function citeIn(reply: FastifyReply, { basePath, url, server, query }: GetCall): void {
  if (query.release === undefined) return
  reply.header('link', `<${basePath}${url.slice(server.config.BASE_PATH.length)}>; rel="cite-as"`)
}

/** The errors of an operation, where that there is no value is said as text as well. */
function withTextOfReasons(errors: Record<number, object>): Record<number, object> {
  const { content, ...noValue } = errors[404] as { content: object }
  return {
    ...errors,
    404: { ...noValue, headers: OF_TEXT, content: { ...content, 'text/plain': { schema: ref(ShortText) } } },
  }
}

/** Sends what needs nothing more. */
function send(answer: PointAnswer | Error, reply: FastifyReply): FastifyReply {
  if (answer instanceof Error) return reply.send(answer)
  return reply.header('content-type', 'application/json; charset=utf-8').send(answer.text())
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
