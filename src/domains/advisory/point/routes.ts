import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { asQuery, type PointRequest, ReleaseHeader } from '#schemas/advisory.ts'
import { type Product, ref } from '#schemas/common.ts'
import type { RecordAdvisory } from '#src/domains/history/queries.ts'
import { type ErrorCode, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { isCurrent } from '#src/http/caching.ts'
import { mergeQueryIntoBody, readQuery } from '#src/http/parameters.ts'
import { OPTIONAL_TOKEN } from '#src/http/plugins/openapi.ts'
import { createReplyBatcher } from '#src/http/reply-batcher.ts'
import type { PointAdvisor } from '../lookup/advisor.ts'
import { seriesOf } from '../lookup/series.ts'
import { allowCaching, forbidCaching, namedTags, tagOf, tagOfReleases } from './conditional.ts'
import { POINT_ENDPOINTS, type PointAnswer, type PointEndpoint } from './endpoints.ts'
import { type RecordedCall, recordForCaller } from './record.ts'
import { wantsTiming, withTiming } from './timing.ts'

const KEPT = `

With a valid token the answer is kept in the caller's history, and has the \`history_id\` that feedback is given to. A token that is not valid is no error: the call is anonymous.

\`Prefer: server-timing\` asks for a \`Server-Timing\` header: the milliseconds that finding the release and the values took, and all since the request arrived.`

const POST_RULES = `

Send the parameters as a JSON body, as query parameters, or both: they are merged field by field, and the body wins.`

const GET_RULES = `

The same as POST with its parameters in the query, for clients and proxies that keep answers: for a minute without asking, and then by \`If-None-Match\` for as long as the release is the same. With a valid token nothing but the caller's history keeps the answer.`

const TimingHeader = Type.String({
  description: 'Milliseconds, where `Prefer: server-timing` asked for them.',
})

export function pointRoutes(app: App, advisor: PointAdvisor, keep: RecordAdvisory): void {
  const sendSoon = createReplyBatcher(send)
  for (const endpoint of POINT_ENDPOINTS) {
    const { path, name, request, response, summary, description } = endpoint
    const errors: ErrorCode[] = [
      'INVALID_PARAMETERS',
      ...(endpoint.product === 'forage' || endpoint.product === 'all' ? [] : ['CROP_NOT_AVAILABLE' as const]),
      'NO_RELEASE',
      'OUTSIDE_COUNTRY',
      'NO_DATA',
    ]
    const success = { ...ref(response), description: 'The values at the point.' }
    const headers = { 'Advisory-Release': ReleaseHeader, 'Server-Timing': TimingHeader }
    const common = { tags: ['advisory'], security: OPTIONAL_TOKEN }

    app.route({
      method: 'POST',
      url: path,
      config: { public: true },
      schema: {
        ...common,
        operationId: `${name}AtPoint`,
        summary,
        description: description + POST_RULES + KEPT,
        queryAlternative: asQuery(request),
        body: ref(request),
        response: {
          200: { ...success, headers },
          ...errorResponses(...errors, 'MALFORMED_JSON', 'BODY_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'),
        },
      },
      preValidation: mergeQueryIntoBody(request),
      handler: (call: FastifyRequest<{ Body: PointRequest }>, reply: FastifyReply) =>
        call.user === null ? answerSoon(endpoint, call, reply) : answerAndKeep(endpoint, call, reply),
    })

    app.route({
      method: 'GET',
      url: path,
      config: { public: true },
      schema: {
        ...common,
        operationId: `get${name.charAt(0).toUpperCase()}${name.slice(1)}AtPoint`,
        summary: `${summary}, to be cached`,
        description: description + GET_RULES + KEPT,
        querystring: Type.Object(request.properties),
        response: {
          200: {
            ...success,
            headers: {
              ...headers,
              ETag: Type.String({ description: 'Names the answer: the same as long as the release is.' }),
              'Cache-Control': Type.String(),
            },
          },
          304: Type.Null({ description: 'The answer is the one that `If-None-Match` names.' }),
          ...errorResponses(...errors),
        },
      },
      onRequest: async (call, reply) => forbidCaching(call, reply),
      preValidation: readQuery(request),
      handler: async (call: FastifyRequest<{ Querystring: PointRequest }>, reply: FastifyReply) => {
        const asked = call.query
        // Whoever sends a token is to be asked for it again, also while it cannot be looked up.
        const shared = call.headers.authorization === undefined
        if (shared && (await isUnchanged(endpoint, asked, call, reply))) return reply.code(304).send()
        const answer = await answerOf(endpoint, asked, call, reply)
        if (call.user !== null) return recordForCaller(keep, call, keptAs(endpoint, asked), answer)
        if (shared && allowCaching(call, reply, tagOf(path, asked, answer))) return reply.code(304).send()
        return send(answer, reply)
      },
    })
  }

  /** Most calls wait for nothing, and so they make no promise, which each await would add a turn to. */
  function answerSoon(
    endpoint: PointEndpoint,
    call: FastifyRequest<{ Body: PointRequest }>,
    reply: FastifyReply,
  ): void {
    const fail = (error: Error) => sendSoon(error, reply)
    try {
      const answer = answerOf(endpoint, call.body, call, reply)
      if (answer instanceof Promise) answer.then((found) => sendSoon(found, reply), fail)
      else sendSoon(answer, reply)
    } catch (error) {
      fail(error as Error)
    }
  }

  async function answerAndKeep(
    endpoint: PointEndpoint,
    call: FastifyRequest<{ Body: PointRequest }>,
    reply: FastifyReply,
  ) {
    const answer = await answerOf(endpoint, call.body, call, reply)
    return recordForCaller(keep, call, keptAs(endpoint, call.body), answer)
  }

  function answerOf(
    endpoint: PointEndpoint,
    asked: PointRequest,
    call: FastifyRequest,
    reply: FastifyReply,
  ): PointAnswer | Promise<PointAnswer> {
    const answer = wantsTiming(call)
      ? withTiming(
          reply,
          () => releasesOf(endpoint, asked),
          () => endpoint.answer(advisor, asked),
        )
      : endpoint.answer(advisor, asked)
    return answer instanceof Promise
      ? answer.then((found) => namingReleases(found, reply))
      : namingReleases(answer, reply)
  }

  /** The releases that would answer now; undefined where not all products have one. */
  async function releasesOf({ products }: PointEndpoint, asked: PointRequest): Promise<string[] | undefined> {
    const found = await Promise.all(products.map((product) => advisor.releaseOf(seriesOf(product, asked))))
    const codes = found.flatMap((release) => release?.code ?? [])
    return codes.length === products.length ? codes : undefined
  }

  /** Whether a client has what the releases of now say, which is known before any value is looked up. */
  async function isUnchanged(
    endpoint: PointEndpoint,
    asked: PointRequest,
    call: FastifyRequest,
    reply: FastifyReply,
  ): Promise<boolean> {
    const tags = namedTags(call)
    const releases = tags === undefined ? undefined : await releasesOf(endpoint, asked)
    if (!releases) return false
    const tag = tagOfReleases(endpoint.path, asked, releases)
    return isCurrent(tags, tag) && allowCaching(call, reply, tag)
  }
}

function namingReleases(answer: PointAnswer, reply: FastifyReply): PointAnswer {
  reply.header('advisory-release', answer.releases.join(', '))
  return answer
}

/** Sends what needs nothing more, as text where there is one. */
function send(answer: PointAnswer | Error, reply: FastifyReply): void {
  if (answer instanceof Error) reply.send(answer)
  else if (answer.text) reply.header('content-type', 'application/json; charset=utf-8').send(answer.text())
  else reply.send(answer.body)
}

/** What the history says a call was about. */
function keptAs({ product, products }: PointEndpoint, asked: PointRequest): RecordedCall {
  const { countryCode, cropCode } = seriesOf(products[0] as Product, asked)
  return { product, countryCode, cropCode, request: asked }
}
