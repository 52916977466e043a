import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { preferredLanguage, varyBy } from '#src/http/request.ts'
import { UnknownPlace } from '#src/advice/location/place.ts'
import { composeText, inOneLine } from './compose.ts'
import { LANGUAGES, type Texts, textsIn } from './languages.ts'
import { countSegments } from './segments.ts'

interface TextWish {
  products: readonly ProductDefinition[]
  maxSegments: number | undefined
  /** The language that the request names; by default that of `Accept-Language`. */
  language: string | undefined
  /** Whether the text says which place answers: the request has named an area, perhaps with an error. */
  keepsName?: boolean
  /** Whether caches may store the answer, once it is made. */
  isShared: () => boolean
}

/** The reason for no value is a text too, with its status in JSON; other errors stay JSON, for the program. */
export async function replyInText(
  request: FastifyRequest,
  reply: FastifyReply,
  { products, maxSegments = 1, language, keepsName = false, isShared }: TextWish,
  createBody: () => Promise<Record<string, unknown>>,
): Promise<FastifyReply> {
  const texts = textsIn(language ?? preferredLanguage(request, [...LANGUAGES.served.keys()]))
  const send = (text: string) =>
    reply.type('text/plain; charset=utf-8').header('content-language', texts.language).send(text)
  try {
    const text = composeText(products, await createBody(), texts, maxSegments, keepsName)
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language')
    const isCurrent = isShared() && allowCaching(request, reply, entityTag(texts.language, text))
    return isCurrent ? reply.code(304).send() : send(text)
  } catch (error) {
    const reason = error instanceof ApiError ? writeReason(error, texts, maxSegments) : undefined
    if (reason === undefined) throw error
    const { code, status } = error as ApiError
    request.errorCode = code
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language').code(status)
    return send(reason)
  }
}

/** Why there is no answer, with the codes to choose from as far as they fit; undefined where only a program can mend it. */
function writeReason(
  error: ApiError,
  { reasons, which_code }: Texts,
  maxSegments: number,
): string | undefined {
  // The document says so: other errors are of the request.
  if (error.status !== 404) return undefined
  const reason = (reasons as Partial<Record<ErrorCode, string>>)[error.code]
  const candidates = error instanceof UnknownPlace ? error.candidates : []
  const codes = candidates.map(({ code, name }) => `${code} ${inOneLine(name)}`)
  for (let most = codes.length; most > 0; most--) {
    const text = `${which_code} ${codes.slice(0, most).join('; ')}.`
    if (countSegments(text) <= maxSegments) return text
  }
  return reason
}
