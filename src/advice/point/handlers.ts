import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PointRequest } from '#schemas/point-request.ts'
import { ALL_PRODUCTS } from '#schemas/product.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import type { RecordAdvisory } from '#src/history/queries.ts'
import { sayHistoryFull } from '#src/history/recorded-answer.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { SHARE_OF_EXTRAS } from '#src/http/exchange.ts'
import { CSV } from '#src/http/formats.ts'
import { ignoredMember } from '#src/http/parameters.ts'
import { findCaller, permits } from '#src/http/plugins/authentication.ts'
import { allowCaching, mayBeShared } from '#src/http/plugins/caching.ts'
import {
  isOffTheRecord,
  prefers,
  prefersText,
  readIdempotencyKey,
  sendAtEnd,
  setApplied,
  varyBy,
} from '#src/http/request.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import type { LocatableRequest } from '#src/lookup/places.ts'
import { positionOf, readSeries } from '#src/lookup/releases.ts'
import { type AnswerFormat, readMembers } from '../additions.ts'
import { answerFromMemory, answerPoint, PointAnswer, type PointSource } from './answer.ts'

/** JSON, CSV, or another of the additions. */
type Format = 'json' | 'csv' | AnswerFormat

/** A request for a point. */
interface PointCall {
  source: PointSource
  /** The parameters: the body or the query. */
  point: PointRequest
  format: Format
  /** Says which position the text of a place has been taken for. */
  place?: object
  request: FastifyRequest
  reply: FastifyReply
}

interface PointContext extends PointCall {
  lookup: Lookup
  record: RecordAdvisory
}

export type PointHandlers = ReturnType<typeof createPointHandlers>

/** An answer from memory takes no promise until it is stored, and the answers of a turn of the event loop leave together. */
export function createPointHandlers(lookup: Lookup, record: RecordAdvisory) {
  /** Answers by `reply`, or by the body that it returns. */
  function handle(context: PointContext): Promise<PointAnswer['body']> | undefined {
    const { source, point, format, request, reply } = context
    const fail = (error: unknown) => sendAtEnd(reply, () => reply.send(error))
    // Anonymous answers are not stored, so their key does nothing; an invalid key is refused all the same.
    const key = request.method === 'POST' ? readIdempotencyKey(request) : undefined
    const isOnce = key !== undefined && findCaller(request) !== null
    if (typeof format === 'object') {
      answerInText(format, context).catch(fail)
    } else if (isOnce) {
      return answerOnce(context)
    } else {
      const plain = isPlain(context) && answerFromMemory(lookup, source, point)
      if (plain instanceof Error || (plain && request.user === null)) {
        if (plain instanceof PointAnswer) nameReleases(plain, reply)
        sendAtEnd(reply, () => send(plain, context))
      } else {
        const stored = plain ? store(context, plain) : findAndStore(context)
        stored.then((answer) => sendAtEnd(reply, () => send(answer, context)), fail)
      }
    }
    return undefined
  }

  return {
    /** Sends the answer for a position that a text has named. */
    answerAt: (call: PointCall) => handle({ lookup, record, ...call }),
    /** The same as the body of the answer. */
    bodyAt: async (call: PointCall) => (await findAndStore({ lookup, record, ...call })).body,
    post: (source: PointSource) => (request: FastifyRequest<{ Body: PointRequest }>, reply: FastifyReply) => {
      const format = preferredFormat(request)
      return handle({ lookup, record, source, point: request.body, format, request, reply })
    },
    get:
      (source: PointSource) =>
      (request: FastifyRequest<{ Querystring: PointRequest & { format?: string } }>, reply: FastifyReply) => {
        const { format: named, ...point } = request.query
        const format = readFormat(request, point, named)
        refuseFurther(request, format, point)
        if (typeof format === 'string') varyBy(reply, 'Accept')
        return handle({ lookup, record, source, point, format, request, reply })
      },
  }
}

/** The format that `Accept` prefers. */
function preferredFormat(request: FastifyRequest): Format {
  for (const format of request.server.additions.formats) {
    if (prefersText(request, format.mediaType)) return format
  }
  return 'json'
}

/** The format of an answer to `GET`, whose own parameters leave the query. */
export function readFormat(request: FastifyRequest, query: object, named: string | undefined): Format {
  const { formats } = request.server.additions
  for (const { parameters } of formats) {
    for (const name in parameters) if (name in query) delete (query as Record<string, unknown>)[name]
  }
  if (named === 'json' || named === 'csv') return named
  return formats.find(({ name }) => name === named) ?? preferredFormat(request)
}

/** @throws {ApiError} INVALID_PARAMETERS for what a table has no columns for */
export function refuseFurther(
  { server }: FastifyRequest,
  format: Format,
  point: Partial<PointRequest>,
): void {
  const further = format === 'csv' && server.additions.members.find(({ name }) => point[name])
  if (further) throw ApiError.invalid(further.name, 'must be left out for CSV, which has no columns for it')
}

/** Whether memory may have all parts of an answer. The history stores the members of a named release, too. */
function isPlain({ point, format, request }: PointContext): boolean {
  if (prefers(request, 'server-timing') || (request.user !== null && point.release !== undefined))
    return false
  if (format === 'csv') return true
  for (const { name } of request.server.additions.members) if (point[name]) return false
  return !prefers(request, 'return=provenance')
}

function answerOnce(context: PointContext): Promise<PointAnswer['body']> {
  const { request } = context
  return request.server.once(request.exchange, async () => {
    const answer = await findAndStore(context)
    return { ...answer.body, ...ignoredMember(request) }
  })
}

function answerInText(format: AnswerFormat, context: PointContext): Promise<FastifyReply> {
  const { source, point, request } = context
  const isShared = () => mayBeShared(request.exchange)
  return format.reply(request.exchange, { products: source.products, asked: point, isShared }, async () => {
    if (request.method === 'POST' && request.user) return answerOnce(context)
    const { body } = await findAndStore(context)
    cite(context)
    return body
  })
}

async function findAndStore(context: PointContext): Promise<PointAnswer> {
  const { lookup, source, point, format, request, reply } = context
  // The history stores the preference as a parameter.
  if (format !== 'csv' && !point.provenance && prefers(request, 'return=provenance')) {
    point.provenance = true
    setApplied(reply, 'return=provenance')
  }
  const isTimed = prefers(request, 'server-timing')
  const started = performance.now()
  await settle(context)
  if (isTimed) await request.exchange.wait(lookup.current)
  const released = performance.now()
  const answer = await answerPoint(lookup, source, point, request.exchange)
  await addMembers(context, answer)
  if (isTimed) sayTimes(reply, released - started, performance.now() - released)
  return store(context, answer)
}

/** Adds the members that a request asks for. A text has no room for them. */
async function addMembers({ point, format, request }: PointContext, answer: PointAnswer): Promise<void> {
  const isText = typeof format === 'object'
  let ofProducts = false
  for (const member of request.server.additions.members) {
    if (!point[member.name]) continue
    if (member.of === 'products') ofProducts = !isText
    else if (!isText || member.isKeptOfTexts) {
      answer.add({ [member.name]: await member.read(point, answer.advice, request.exchange) })
    }
  }
  if (!ofProducts) return
  const position = positionOf(point)
  for (const { product, release } of answer.answered) {
    answer.addOf(product, await readMembers(point, product, { release, position }, request.exchange))
  }
}

/** Completes a request with the members of its release, or of the place. @throws {ApiError} for a wrong release */
async function settle({ source, lookup, point, request }: PointContext): Promise<void> {
  const { products, hasSections } = source
  if (point.release !== undefined) {
    Object.assign(point, await withReleaseNamed(lookup, products, point, request.exchange))
  } else if (hasSections && !lookup.places.fillFromMemory(point, positionOf(point))) {
    await request.exchange.wait(() => lookup.places.fill(point, positionOf(point)))
  }
}

/** Says the milliseconds of the release, of the values, and since the request arrived. */
function sayTimes(reply: FastifyReply, release: number, values: number): void {
  const steps = Object.entries({ release, values, total: reply.elapsedTime })
  reply.headers({
    'server-timing': steps.map(([name, duration]) => `${name};dur=${duration.toFixed(3)}`).join(', '),
    'timing-allow-origin': reply.server.config.CORS_ORIGINS.join(', '),
    // A cache would repeat the times of this request.
    'cache-control': 'no-store',
  })
  setApplied(reply, 'server-timing')
}

function nameReleases({ releases }: PointAnswer, reply: FastifyReply): void {
  reply.header('advisory-release', releases.join(', '))
}

/** Stores an answer for a caller with a token, and adds its id. It goes out without one where that fails. */
async function store(context: PointContext, answer: PointAnswer): Promise<PointAnswer> {
  nameReleases(answer, context.reply)
  const { record, source, point, request, reply } = context
  const { user, method } = request
  if (user === null || method === 'HEAD') return answer
  if (!permits(user, 'history') || isOffTheRecord(request.exchange)) return answer
  try {
    const [first] = source.products as [ProductDefinition]
    const seasonal = source.products.some((product) => product.seasonal)
    const recorded = source.hasSections ? { code: ALL_PRODUCTS, seasonal } : first
    const { product, countryCode, cropCode } = readSeries(recorded, point)
    const { country_source: _, ...sent } = point as PointRequest & LocatableRequest
    const advisory = {
      userId: user.id,
      product,
      kind: 'point' as const,
      countryCode,
      cropCode,
      releases: answer.releases,
      request: sent,
      answer: answer.text(),
    }
    const insert = () => record(advisory)
    const stored = await request.exchange.wait(insert, SHARE_OF_EXTRAS)
    if (typeof stored === 'string') answer.add({ history_id: stored })
    else sayHistoryFull(reply, stored)
  } catch (error) {
    request.server.logFailure(error, 'an advisory could not be kept', request.log)
  }
  return answer
}

function send(answer: PointAnswer | ApiError, context: PointContext): FastifyReply {
  const { format, request, reply } = context
  if (answer instanceof ApiError) return reply.send(answer)
  if (context.place) answer.add({ place: context.place })
  if (request.ignored !== null) answer.add(ignoredMember(request))
  const text = format === 'csv' ? answer.table() : answer.text()
  if (request.method !== 'POST') {
    if (mayBeShared(request.exchange) && allowCaching(request.exchange, entityTag(text)))
      return reply.code(304).send()
    cite(context)
  }
  const type = format === 'csv' ? CSV.contentType : 'application/json; charset=utf-8'
  return reply.header('content-type', type).send(text)
}

/** Links the answer itself, if the request names a release. The address is relative, so that caches may store it. */
function cite({ point, request, reply }: PointContext): void {
  const { basePath, url, server, method, query } = request
  if (point.release === undefined || method === 'POST') return
  // The place of a name changes with the boundaries.
  if ((query as { place?: string }).place !== undefined) return
  if (server.additions.members.some(({ name, changes }) => changes && point[name])) return
  reply.header('link', `<${basePath}${url.slice(server.config.BASE_PATH.length)}>; rel="cite-as"`)
}
