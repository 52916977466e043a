import type { TSchema } from 'typebox'
import { ref } from '#schemas/common.ts'
import type { TextFormat } from '#schemas/point-request.ts'
import type { ErrorCode } from '#src/errors.ts'
import { errorResponses } from '#src/http/app.ts'

/** The texts that may answer in the place of JSON. */
export function documentTexts(formats: readonly TextFormat[]) {
  const headers: object = Object.assign({}, ...formats.map(({ headers }) => headers))
  const content = formats.map(({ mediaType, schema }) => [mediaType, { schema: ref(schema) }])
  return { headers, content: Object.fromEntries(content) as Record<string, { schema: TSchema }> }
}

/** The errors of an operation: the reason for no value may be a text. */
export function documentErrors(
  formats: readonly TextFormat[],
  codes: readonly ErrorCode[],
): Record<number, object> {
  const errors: Record<number, object> = errorResponses(...codes)
  if (formats.length === 0) return errors
  const { headers, content } = documentTexts(formats)
  const { content: json, ...noValue } = errors[404] as { content: object }
  return { ...errors, 404: { ...noValue, headers, content: { ...json, ...content } } }
}
