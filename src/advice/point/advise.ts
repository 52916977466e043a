import type { FastifyRequest } from 'fastify'
import { unnamedReason } from '#schemas/advisory.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import { ALL_PRODUCTS } from '#schemas/product.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import { keepAnswer, type RecordAdvisory } from '#src/history/keep-answer.ts'
import { findCaller } from '#src/http/caller.ts'
import { type Exchange, SHARE_OF_EXTRAS } from '#src/http/exchange.ts'
import { ignoredMember } from '#src/http/parameters.ts'
import { prefers, readIdempotencyKey, sendAtEnd, setApplied } from '#src/http/request.ts'
import { splitList } from '#src/lib/names.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import type { LocatableRequest } from '#src/lookup/places.ts'
import { positionOf, readSeries } from '#src/lookup/releases.ts'
import { readMembers } from '../additions.ts'
import {
  type Answer,
  type AnswerFormat,
  answerFrom,
  JSON_ANSWER,
  type Members,
  sendAnswer,
  takeFormat,
} from '../answer.ts'
import { asksForQuantities } from '../quantities/plan.ts'
import { createAnswer, type PointAnswer, type ProductOutcome, type Topic } from './answer.ts'

/**
 * The way of a point: its question, the release, the values of its pixels, the answer, the members that were asked for,
 * the history, the format. What memory has is answered at once, without a promise: all else waits for `advise`.
 */

/** What is asked about a point. */
interface PointQuestion {
  topic: Topic
  /** As sent; the members of its release or of its place are filled in on the way. */
  point: PointRequest
  format: AnswerFormat
  /** How the text of a place was read, for the answer. */
  place?: object
}

export type PointHandlers = ReturnType<typeof createPointHandlers>

/** Makes the handlers of points. */
export function createPointHandlers(lookup: Lookup, record: RecordAdvisory) {
  /** Answers by `reply`, at the end of a slice of computing. */
  function respond(exchange: Exchange, question: PointQuestion): void {
    const { request, reply } = exchange
    const send = (found: Answer | Error) => sendAtEnd(reply, () => sendPoint(exchange, question, found))
    if (isIdempotent(request)) {
      adviseOnce(exchange, question).then(send, send)
      return
    }
    const found = asksForValuesAlone(request, question) ? answerFromMemory(lookup, question) : undefined
    if (found instanceof ApiError || (found && request.user === null)) send(found)
    else adviseAndKeep(exchange, question, found).then(send, send)
  }

  /** The answer that is stored with a key, or that is then stored. */
  async function adviseOnce(exchange: Exchange, question: PointQuestion): Promise<Answer> {
    const { app, request, reply } = exchange
    const body = await app.once(exchange, async () => {
      // With all members that were asked for: a repetition may ask for another format.
      const answer = await adviseAndKeep(exchange, { ...question, format: JSON_ANSWER })
      reply.header('advisory-release', answer.releases.join(', '))
      return { ...(JSON.parse(answer.writeJson()) as Members), ...ignoredMember(request) }
    })
    return answerFrom(body)
  }

  /** @param found what memory has already given */
  async function adviseAndKeep(
    exchange: Exchange,
    question: PointQuestion,
    found?: PointAnswer,
  ): Promise<PointAnswer> {
    const answer = found ?? (await advise(lookup, exchange, question))
    return keep(record, exchange, question, answer)
  }

  return {
    respond,
    post:
      (topic: Topic) =>
      ({ exchange, body }: FastifyRequest<{ Body: PointRequest }>) =>
        respond(exchange, { topic, point: body, format: takeFormat(exchange.request, body) }),
    get:
      (topic: Topic) =>
      ({ exchange, query }: FastifyRequest<{ Querystring: PointRequest & { format?: string } }>) => {
        const { format, ...point } = query
        return respond(exchange, { topic, point, format: takeFormat(exchange.request, point, format) })
      },
  }
}

/** Whether a repetition must have the same answer. Anonymous answers are not kept, so their key does nothing. */
function isIdempotent(request: FastifyRequest): boolean {
  // An invalid key is refused all the same.
  return (
    request.method === 'POST' && readIdempotencyKey(request) !== undefined && findCaller(request) !== null
  )
}

/** Whether the answer has no members to read, nor times. The history has the members of a named release, too. */
function asksForValuesAlone(request: FastifyRequest, { point, format }: PointQuestion): boolean {
  if (prefers(request, 'server-timing') || (request.user !== null && point.release !== undefined))
    return false
  if (format.members === 'refused') return true
  for (const { name } of request.server.additions.members) if (point[name]) return false
  return !prefers(request, 'return=provenance')
}

/** The answer from memory, or its error; undefined where a part of it is not there. */
function answerFromMemory(
  lookup: Lookup,
  { topic, point }: PointQuestion,
): PointAnswer | ApiError | undefined {
  if (asksForQuantities(point)) return undefined
  const position = positionOf(point)
  if (topic.hasSections && !lookup.places.fillFromMemory(point, position)) return undefined
  const outcomes: ProductOutcome[] = []
  for (const product of topic.products) {
    const outcome = lookup.adviseFromMemory(readSeries(product, point), position)
    if (outcome === undefined) return undefined
    outcomes.push({ product, outcome })
  }
  return createAnswer(topic, point, outcomes, null)
}

/** The answer with the members that were asked for. @throws {ApiError} the reason for none */
async function advise(lookup: Lookup, exchange: Exchange, question: PointQuestion): Promise<PointAnswer> {
  const { request, reply } = exchange
  const { topic, point, format } = question
  // The history has the preference as a parameter.
  if (format.members !== 'refused' && !point.provenance && prefers(request, 'return=provenance')) {
    point.provenance = true
    setApplied(reply, 'return=provenance')
  }
  const isTimed = prefers(request, 'server-timing')
  const started = performance.now()
  await completeQuestion(lookup, exchange, question)
  if (isTimed) await exchange.wait(lookup.current)
  const released = performance.now()
  const answer = await answerPoint(lookup, topic, point, exchange)
  const whole = await withMembersAsked(exchange, question, answer)
  if (isTimed) sayTimes(exchange, released - started, performance.now() - released)
  return whole
}

/** Fills in the members of the release that a question names, or of its place. @throws {ApiError} for a wrong release */
async function completeQuestion(
  lookup: Lookup,
  exchange: Exchange,
  { topic: { products, hasSections }, point }: PointQuestion,
): Promise<void> {
  const position = positionOf(point)
  if (point.release !== undefined) {
    Object.assign(point, await withReleaseNamed(lookup, products, point, exchange))
  } else if (hasSections && !lookup.places.fillFromMemory(point, position)) {
    await exchange.wait(() => lookup.places.fill(point, position))
  }
}

/** The values of each product at a point, from memory or else from the database. @throws {ApiError} the reason for none */
export async function answerPoint(
  lookup: Lookup,
  topic: Topic,
  point: PointRequest,
  exchange: Exchange,
): Promise<PointAnswer> {
  const answer = await exchange.wait(() => readValues(lookup, topic, point, exchange))
  if (answer instanceof Error) throw answer
  return answer
}

async function readValues(
  lookup: Lookup,
  topic: Topic,
  point: PointRequest,
  { clientKey }: Exchange,
): Promise<PointAnswer | ApiError> {
  const { products } = topic
  const rules = asksForQuantities(point) ? await topic.readRules(point, products) : null
  const findNamed = await readNamed(lookup, point.release)
  const position = positionOf(point)
  async function findOutcome(product: ProductDefinition): Promise<ProductOutcome> {
    const release = findNamed(product)
    if (release instanceof ApiError) return { product, outcome: release }
    const series = readSeries(product, { ...point, release })
    const found = lookup.adviseFromMemory(series, position)
    return { product, outcome: found ?? (await lookup.advise(series, position, clientKey)) }
  }
  return createAnswer(topic, point, await Promise.all(products.map(findOutcome)), rules)
}

/** Finds the release of a product among those that a request names, or why there is none; undefined without a list. */
export async function readNamed({ namedRelease }: Lookup, list: string | undefined) {
  const named = await Promise.all(splitList(list ?? '').map(namedRelease))
  const codes = new Map(named.map(({ release }) => [release.product, release.code]))
  return (product: ProductDefinition): string | ApiError | undefined => {
    if (list === undefined) return undefined
    return codes.get(product.code) ?? new ApiError('NO_RELEASE', unnamedReason(product).error)
  }
}

/** Adds the members that a question asks for. A text has no room for them. */
async function withMembersAsked(
  exchange: Exchange,
  { point, format }: PointQuestion,
  answer: PointAnswer,
): Promise<PointAnswer> {
  const isLeftOut = format.members === 'left out'
  let whole = answer
  let ofProducts = false
  for (const member of exchange.app.additions.members) {
    if (!point[member.name]) continue
    if (member.of === 'products') ofProducts = !isLeftOut
    else if (!isLeftOut || member.isKeptOfTexts) {
      whole = whole.withMembers({ [member.name]: await member.read(point, answer.advice, exchange) })
    }
  }
  if (!ofProducts) return whole
  const position = positionOf(point)
  const found = new Map<ProductDefinition, Members>()
  for (const { product, release } of answer.products) {
    found.set(product, await readMembers(point, product, { release, position }, exchange))
  }
  return whole.withMembersOf(found)
}

/** Keeps an answer in the history, and adds its id. It goes out without one where that fails. */
async function keep(
  record: RecordAdvisory,
  exchange: Exchange,
  { topic, point }: PointQuestion,
  answer: PointAnswer,
): Promise<PointAnswer> {
  const makeRecord = () => {
    const [first] = topic.products as [ProductDefinition]
    const seasonal = topic.products.some((product) => product.seasonal)
    const { country_source: _, ...request } = point as PointRequest & LocatableRequest
    const asked = topic.hasSections ? { code: ALL_PRODUCTS, seasonal } : first
    const { product, countryCode, cropCode } = readSeries(asked, point)
    const { releases } = answer
    return {
      ...{ kind: 'point' as const, product, countryCode, cropCode, releases, request },
      answer: answer.writeJson(),
    }
  }
  try {
    const item = await keepAnswer(exchange, record, makeRecord, SHARE_OF_EXTRAS)
    return item ? answer.withMembers(item) : answer
  } catch (error) {
    exchange.app.logFailure(error, 'an answer was not kept in the history', exchange.request.log)
    return answer
  }
}

function sendPoint(exchange: Exchange, question: PointQuestion, found: Answer | Error) {
  const { request } = exchange
  const { topic, point, format, place } = question
  let answer = found
  // A stored answer says what was ignored when it was made.
  const saysIgnored = request.ignored !== null && !isIdempotent(request)
  if (!(answer instanceof Error) && (place || saysIgnored)) {
    answer = answer.withMembers({ ...(place && { place }), ...(saysIgnored && ignoredMember(request)) })
  }
  const link = citeLink(request, point)
  const context = { products: topic.products, asked: point, keepsName: place !== undefined, link }
  return sendAnswer(exchange, format, context, answer)
}

/** The link of the answer to itself, if it names a release: a relative one, so that caches may store it. */
function citeLink(request: FastifyRequest, point: PointRequest): string | undefined {
  const { basePath, url, server, method, query } = request
  if (point.release === undefined || method === 'POST') return undefined
  // The place of a name changes with the boundaries.
  if ((query as { place?: string }).place !== undefined) return undefined
  if (server.additions.members.some(({ name, changes }) => changes && point[name])) return undefined
  return `<${basePath}${url.slice(server.config.BASE_PATH.length)}>; rel="cite-as"`
}

/** Says the milliseconds of the release, of the values, and since the request arrived. */
function sayTimes({ reply }: Exchange, release: number, values: number): void {
  const steps = Object.entries({ release, values, total: reply.elapsedTime })
  reply.headers({
    'server-timing': steps.map(([name, duration]) => `${name};dur=${duration.toFixed(3)}`).join(', '),
    'timing-allow-origin': reply.server.config.CORS_ORIGINS.join(', '),
    // A cache would repeat the times of this request.
    'cache-control': 'no-store',
  })
  setApplied(reply, 'server-timing')
}
