import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AdvisoryRecord, RecordAdvisory } from '#src/domains/history/queries.ts'
import { sayHistoryFull } from '#src/http/history-full.ts'
import { partyOf } from '#src/http/party.ts'
import { permits } from '#src/http/plugins/authentication.ts'
import { inTime, SHARE_OF_EXTRAS } from '#src/http/plugins/patience.ts'
import { isOffTheRecord } from '#src/http/preferences.ts'
import type { PointAnswer } from './answer.ts'

/** What a call was about. */
export type RecordedCall = Pick<AdvisoryRecord, 'product' | 'countryCode' | 'cropCode' | 'request'>

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
  { releases, body }: PointAnswer,
): Promise<Record<string, unknown>> {
  const { user, method } = request
  if (user === null || method === 'HEAD') return body
  if (!permits(user, 'history') || isOffTheRecord(request, reply)) return body
  try {
    const entry = { ...call, userId: user.id, kind: 'point' as const, releases, answer: body }
    const kept = () => record(entry, partyOf(request))
    const historyId = await inTime(request, reply, kept, SHARE_OF_EXTRAS)
    if (historyId !== null) return { ...body, history_id: historyId }
    sayHistoryFull(reply)
    return body
  } catch (error) {
    request.server.logFailure(error, 'an advisory could not be kept', request.log)
    return body
  }
}
