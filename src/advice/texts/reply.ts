import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { preferredLanguage, varyBy } from '#src/http/request.ts'
import { composeText } from './compose.ts'
import { LANGUAGES, textsIn } from './languages.ts'

interface TextWish {
  products: readonly ProductDefinition[]
  maxSegments: number | undefined
  /** The language that the request names; by default that of `Accept-Language`. */
  language: string | undefined
  /** Whether caches may store the answer, once it is made. */
  isShared: () => boolean
}

/** The reason for no value is a text too, with its status in JSON; other errors stay JSON, for the program. */
export async function replyInText(
  request: FastifyRequest,
  reply: FastifyReply,
  { products, maxSegments = 1, language, isShared }: TextWish,
  createBody: () => Promise<Record<string, unknown>>,
): Promise<FastifyReply> {
  const texts = textsIn(language ?? preferredLanguage(request, [...LANGUAGES.served.keys()]))
  const send = (text: string) =>
    reply.type('text/plain; charset=utf-8').header('content-language', texts.language).send(text)
  try {
    const text = composeText(products, await createBody(), texts, maxSegments)
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language')
    const isCurrent = isShared() && allowCaching(request, reply, entityTag(texts.language, text))
    return isCurrent ? reply.code(304).send() : send(text)
  } catch (error) {
    const reasons: Partial<Record<ErrorCode, string>> = texts.reasons
    const reason = error instanceof ApiError ? reasons[error.code] : undefined
    if (reason === undefined) throw error
    const { code, status } = error as ApiError
    request.errorCode = code
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language').code(status)
    return send(reason)
  }
}
