import type { FastifyRequest } from 'fastify'
import type { AdvisoryRecord, KeepAdvisory } from '#src/domains/history/queries.ts'

/**
 * Keeps the answer of a public endpoint for a caller with a token, and says in it under which id. Where
 * it cannot be kept, the answer goes out as it would to anybody: the advice is what was asked for.
 */
export async function keepForCaller<Answer extends object>(
  keep: KeepAdvisory,
  { user, body, log }: FastifyRequest,
  { product, countryCode, cropCode }: Pick<AdvisoryRecord, 'product' | 'countryCode' | 'cropCode'>,
  releases: string[],
  answer: Answer,
): Promise<Answer & { history_id?: string }> {
  if (user === null) return answer
  try {
    const historyId = await keep({
      userId: user.id,
      kind: 'point',
      product,
      countryCode,
      cropCode,
      releases,
      request: body as object,
      answer,
    })
    return { ...answer, history_id: historyId }
  } catch (error) {
    log.warn({ err: error }, 'an advisory could not be kept')
    return answer
  }
}
