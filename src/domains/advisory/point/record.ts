import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PointRequest } from '#schemas/point-request.ts'
import type { AdvisoryRecord, RecordAdvisory, TemplatedAnswer } from '#src/domains/history/queries.ts'
import { sayHistoryFull } from '#src/http/history-full.ts'
import { partyOf } from '#src/http/party.ts'
import { permits } from '#src/http/plugins/authentication.ts'
import { inTime, SHARE_OF_EXTRAS } from '#src/http/plugins/patience.ts'
import { isOffTheRecord } from '#src/http/preferences.ts'
import { seriesOf } from '../lookup/series.ts'
import type { PointAnswer } from './answer.ts'
import type { PointEndpoint } from './endpoints.ts'

/**
 * Keeps the answer of a public endpoint for a caller with a token, and says in it under which id. Where
 * it cannot be kept, the answer goes out as it would to anybody: the advice is what was asked for. HEAD
 * asks for no advice, and nothing is kept of it; nor for a key without the scope.
 *
 * @param asked the parameters that were answered
 */
export async function recordForCaller(
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
    const advisory: AdvisoryRecord = {
      userId: user.id,
      product,
      kind: 'point',
      countryCode,
      cropCode,
      releases: given.releases,
      request: asked,
      answer,
    }
    const historyId = await inTime(request, reply, () => record(advisory, partyOf(request)), SHARE_OF_EXTRAS)
    if (historyId !== null) return new KeptAnswer(given, openTextOf(answer), historyId)
    sayHistoryFull(reply)
  } catch (error) {
    request.server.logFailure(error, 'an advisory could not be kept', request.log)
  }
  return given
}

/** A body as JSON, but for the bracket at its end. */
function openTextOf(answer: TemplatedAnswer | string): string {
  return typeof answer === 'string' ? answer.slice(0, -1) : answer.open
}

/**
 * An answer that says under which id it is kept. It is no literal with getters: V8 would make a shape for each, which
 * outlives its request.
 */
class KeptAnswer implements PointAnswer {
  readonly #given: PointAnswer
  readonly #open: string
  readonly #historyId: string

  constructor(given: PointAnswer, open: string, historyId: string) {
    this.#given = given
    this.#open = open
    this.#historyId = historyId
  }

  get advice() {
    return this.#given.advice
  }

  get releases() {
    return this.#given.releases
  }

  get versions() {
    return this.#given.versions
  }

  get complete() {
    return this.#given.complete
  }

  get body() {
    return { ...this.#given.body, history_id: this.#historyId }
  }

  text() {
    return `${this.#open},"history_id":"${this.#historyId}"}`
  }
}
