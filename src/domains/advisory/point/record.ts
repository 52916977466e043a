import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PointRequest } from '#schemas/point-request.ts'
import type { AdvisoryRecord, RecordAdvisory } from '#src/domains/history/queries.ts'
import { sayHistoryFull } from '#src/http/history-full.ts'
import { partyOf } from '#src/http/party.ts'
import { permits } from '#src/http/plugins/authentication.ts'
import { inTime, SHARE_OF_EXTRAS } from '#src/http/plugins/patience.ts'
import { isOffTheRecord } from '#src/http/preferences.ts'
import { seriesOf } from '../lookup/series.ts'
import type { PointAnswer } from './answer.ts'
import type { PointEndpoint } from './endpoints.ts'

/** What a call was about. */
type RecordedCall = Pick<AdvisoryRecord, 'product' | 'countryCode' | 'cropCode' | 'request'>

/**
 * Keeps the answer of a public endpoint for a caller with a token, and says in it under which id. Where
 * it cannot be kept, the answer goes out as it would to anybody: the advice is what was asked for. HEAD
 * asks for no advice, and nothing is kept of it; nor for a key without the scope.
 */
export async function recordForCaller(
  record: RecordAdvisory,
  request: FastifyRequest,
  reply: FastifyReply,
  call: RecordedCall,
  given: PointAnswer,
): Promise<PointAnswer> {
  const { user, method } = request
  if (user === null || method === 'HEAD') return given
  if (!permits(user, 'history') || isOffTheRecord(request, reply)) return given
  try {
    const templated = given.templated?.()
    const text = templated?.text ?? given.text?.()
    const answer = templated ?? text ?? given.body
    const entry = { ...call, userId: user.id, kind: 'point' as const, releases: given.releases, answer }
    const keep = () => record(entry, partyOf(request))
    const historyId = await inTime(request, reply, keep, SHARE_OF_EXTRAS)
    if (historyId !== null) return withHistoryId(given, text, historyId)
    sayHistoryFull(reply)
  } catch (error) {
    request.server.logFailure(error, 'an advisory could not be kept', request.log)
  }
  return given
}

/** @param text of the answer, where it is known */
function withHistoryId(given: PointAnswer, text: string | undefined, historyId: string): PointAnswer {
  const { releases, complete } = given
  return {
    releases,
    complete,
    get body() {
      return { ...given.body, history_id: historyId }
    },
    ...(text !== undefined && { text: () => `${text.slice(0, -1)},"history_id":"${historyId}"}` }),
  }
}

/** What the history says a call was about. */
export function recordedCall({ recorded }: PointEndpoint, request: PointRequest): RecordedCall {
  const { product, countryCode, cropCode } = seriesOf(recorded, request)
  return { product, countryCode, cropCode, request }
}
