import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import { ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { asQuery, PLAIN_PARAMETERS, PointRequest, queryOf } from '#schemas/point-request.ts'
import type { RecordAdvisory } from '#src/domains/history/queries.ts'
import { BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { ignoredMember, ignoredNoter } from '#src/http/ignored.ts'
import { mergeQueryIntoBody, readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { IDEMPOTENCY_ERRORS, idempotencyKeyOf } from '#src/http/plugins/idempotency.ts'
import { prefers } from '#src/http/preferences.ts'
import { createReplyBatcher } from '#src/http/reply-batcher.ts'
import { varyBy } from '#src/http/vary.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { ExtendedAnswer, type PointAnswer } from './answer.ts'
import { answerTo, isUnchanged, namingReleases } from './answering.ts'
import { tagOf } from './conditional.ts'
import { GET_RULES, POST_RULES } from './descriptions.ts'
import { CITED, commonOf, withTextOfReasons } from './documented.ts'
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
