import type { Answer, AnswerContext, AnswerText, WrittenAnswer } from '#src/advice/answer.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { UnknownPlace } from '#src/extensions/places/place.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { preferredLanguage } from '#src/http/request.ts'
import { composeText, inOneLine } from './compose.ts'
import { LANGUAGES, type Texts, textsIn } from './languages.ts'
import { textFormat } from './schemas.ts'
import { countSegments } from './segments.ts'

export function createTextFormat({ log }: App): AnswerText {
  for (const { file, reason } of LANGUAGES.refused) {
    log.warn(`messages are not sent in the language of src/extensions/texts/${file}: it ${reason}`)
  }
  return { ...textFormat([...LANGUAGES.served.keys()]), members: 'left out', write: writeText }
}

/** The reason for no value is a text too, with its status in JSON; other errors stay JSON, for the program. */
function writeText(
  answer: Answer | Error,
  { products, asked, keepsName = false }: AnswerContext,
  { request }: Exchange,
): WrittenAnswer | undefined {
  const { max_segments: maxSegments = 1 } = asked
  const { lang } = (request.method === 'POST' ? {} : request.query) as { lang?: string }
  const texts = textsIn(lang ?? preferredLanguage(request, [...LANGUAGES.served.keys()]))
  const { language } = texts
  const isReason = answer instanceof Error
  const text = isReason
    ? writeReason(answer, texts, maxSegments)
    : composeText(products, answer.describe(), texts, maxSegments, keepsName)
  if (text === undefined) return undefined
  return { text, contentType: 'text/plain; charset=utf-8', language }
}

/** Why there is no answer, with the codes to choose from as far as they fit; undefined where only a program can mend it. */
function writeReason(error: Error, { reasons, which_code }: Texts, maxSegments: number): string | undefined {
  // The document says so: other errors are of the request.
  if (!(error instanceof ApiError) || error.status !== 404) return undefined
  const reason = (reasons as Partial<Record<ErrorCode, string>>)[error.code]
  const candidates = error instanceof UnknownPlace ? error.candidates : []
  const codes = candidates.map(({ code, name }) => `${code} ${inOneLine(name)}`)
  for (let most = codes.length; most > 0; most--) {
    const text = `${which_code} ${codes.slice(0, most).join('; ')}.`
    if (countSegments(text) <= maxSegments) return text
  }
  return reason
}
