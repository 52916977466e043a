import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PointRequest } from '#schemas/point-request.ts'
import { ApiError } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { preferredLanguage, prefersText } from '#src/http/negotiation.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { varyBy } from '#src/http/vary.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { composeText } from './compose.ts'
import type { Messages } from './languages/messages.ts'
import { LANGUAGES } from './messages.ts'

const TEXT = 'text/plain'

/** Whether a client would rather have text than JSON. What it says of other types does not matter, as it never has. */
export function wantsText(call: FastifyRequest): boolean {
  return prefersText(call, TEXT)
}

function messagesFor({ headers }: FastifyRequest): Messages {
  const [first] = LANGUAGES
  const wanted = headers['accept-language']
  if (wanted === undefined) return first
  const names = LANGUAGES.map(({ language }) => language)
  const chosen = preferredLanguage(wanted, names)
  return LANGUAGES.find(({ language }) => language === chosen) ?? first
}

/**
 * Answers a call as a text message. That there is no value is said so, too, with the status that it has in JSON; other
 * errors are for the program that asks, and stay JSON.
 *
 * @param isShared whether caches may keep the answer
 * @param bodyOf makes the body of the answer in JSON
 */
export async function replyInText(
  call: FastifyRequest,
  reply: FastifyReply,
  asked: { request: PointRequest; products: readonly ProductDefinition[]; isShared: boolean },
  bodyOf: () => Promise<Record<string, unknown>>,
): Promise<FastifyReply> {
  const messages = messagesFor(call)
  const { request, products, isShared } = asked
  try {
    const text = composeText(messages, products, await bodyOf(), request.max_segments ?? 1)
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language')
    if (isShared && allowCaching(call, reply, entityTag(messages.language, text))) {
      return reply.code(304).send()
    }
    return send(reply, messages, text)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const reason = messages.reasons[error.code]
    if (reason === undefined) throw error
    call.errorCode = error.code
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language')
    return send(reply.code(error.status), messages, reason)
  }
}

function send(reply: FastifyReply, { language }: Messages, text: string): FastifyReply {
  return reply.type(`${TEXT}; charset=utf-8`).header('content-language', language).send(text)
}
