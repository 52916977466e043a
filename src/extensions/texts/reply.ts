import type { FastifyReply } from 'fastify'
import type { AnswerFormat, TextWish } from '#src/advice/additions.ts'
import { UnknownPlace } from '#src/advice/location/place.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { preferredLanguage, varyBy } from '#src/http/request.ts'
import { composeText, inOneLine } from './compose.ts'
import { LANGUAGES, type Texts, textsIn } from './languages.ts'
import { textFormat } from './schemas.ts'
import { countSegments } from './segments.ts'

export function createTextFormat({ log }: App): AnswerFormat {
  for (const { file, reason } of LANGUAGES.refused) {
    log.warn(`messages are not sent in the language of src/extensions/texts/${file}: it ${reason}`)
  }
  return { ...textFormat([...LANGUAGES.served.keys()]), reply: replyInText }
}

/** The reason for no value is a text too, with its status in JSON; other errors stay JSON, for the program. */
async function replyInText(
  exchange: Exchange,
  { products, asked, keepsName = false, isShared }: TextWish,
  createBody: () => Promise<Record<string, unknown>>,
): Promise<FastifyReply> {
  const { request, reply } = exchange
  const { max_segments: maxSegments = 1 } = asked
  const { lang } = (request.method === 'POST' ? {} : request.query) as { lang?: string }
  const texts = textsIn(lang ?? preferredLanguage(request, [...LANGUAGES.served.keys()]))
  const send = (text: string) =>
    reply.type('text/plain; charset=utf-8').header('content-language', texts.language).send(text)
  try {
    const text = composeText(products, await createBody(), texts, maxSegments, keepsName)
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language')
    const isCurrent = isShared() && allowCaching(exchange, entityTag(texts.language, text))
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
