import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PointRequest } from '#schemas/point-request.ts'
import type { AdvisoryRecord, RecordAdvisory } from '#src/domains/history/queries.ts'
import { sayHistoryFull } from '#src/http/history-full.ts'
import { partyOf } from '#src/http/party.ts'
import { permits } from '#src/http/plugins/authentication.ts'
import { inTime, SHARE_OF_EXTRAS } from '#src/http/plugins/patience.ts'
import { isOffTheRecord } from '#src/http/preferences.ts'
import { openText } from '#src/lib/json-text.ts'
import type { Placeable } from '../lookup/places.ts'
import { seriesOf } from '../lookup/series.ts'
import { ExtendedAnswer, type PointAnswer } from './answer.ts'
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
    const kept = await inTime(request, reply, () => record(advisory, partyOf(request)), SHARE_OF_EXTRAS)
    const open = typeof answer === 'string' ? openText(answer) : answer.open
    if (typeof kept === 'string') return new ExtendedAnswer(given, { history_id: kept }, open)
    sayHistoryFull(reply, kept.full)
  } catch (error) {
    request.server.logFailure(error, 'an advisory could not be kept', request.log)
  }
  return given
}
