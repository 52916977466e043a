import { isUtf8 } from 'node:buffer'
import { type Answer, mistakesOfAnswer, textOf } from '#test/setup/answers.ts'
import type { Document, Operation, Validator } from '#test/setup/document.ts'
import type { Caller } from './callers.ts'
import { SECRET } from './callers.ts'
import { type Draft, plainBodyOf } from './draft.ts'
import type { Schema } from './values.ts'
import type { Exchange } from './wire.ts'

/** What the document says of a request: it is silent about some. */
export type Verdict = 'legal' | 'illegal' | 'unclear'

/** Which mistakes a legal request may have: those that take the service's data, or two fields, to see. */
const BEYOND_SCHEMAS =
  /^(INVALID_PARAMETERS|INVALID_GEOMETRY|UNKNOWN_COUNTRY|CROP_NOT_AVAILABLE|INVALID_TOKEN)$/

/** What says that a request is not legal; whether its caller may send it, and what it finds, is another matter. */
const REFUSED_AS_ILLEGAL = new Set([400, 405, 408, 411, 413, 414, 415, 431])

/** What the document says once of all operations: which errors any request may be answered with. */
const OF_ANY_REQUEST: Record<string, number> = { NOT_FOUND: 404, METHOD_NOT_ALLOWED: 405 }

/** What is said of the contents of a body. */
const READ = /^(MALFORMED_JSON|INVALID_\w+)$/

/** Of many points or polygons in one call, each is told by itself what is wrong with it. */
const OF_A_PART = /\b(INVALID_PARAMETERS|INVALID_GEOMETRY|MALFORMED_JSON|MALFORMED_BODY)\b/

/** Longer ones may be too long, deeper ones too deep, though no schema says so. */
const SURELY_SHORT_BYTES = 4096
/** A parameter that is longer may make the URL too long. */
const LONGEST_PARAMETER = 1000
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

/**
 * Holds answers to what a document says of their requests.
 *
 * @param slowestMs the longest that an answer may take
 */
export function judgeOf(document: Document, validator: Validator, slowestMs: number) {
  const errors = { $ref: '#/components/schemas/Error' }
  const isRight = (schema: object | undefined, value: unknown) =>
    schema === undefined || validator.mistakes(schema, value).length === 0

  /** The operation that a request comes to, which a change of its method or path may have made another one. */
  function operationOf({ template, method, elsewhere }: Draft): Operation | undefined {
    if (elsewhere) return undefined
    const item = document.paths[template] ?? {}
    return item[method.toLowerCase()] ?? (method === 'HEAD' ? item.get : undefined)
  }

  function verdictOn(draft: Draft, caller: Caller): Verdict {
    const operation = operationOf(draft)
    if (draft.garble) return draft.broken ? 'illegal' : 'unclear'
    if (!operation) return 'unclear'
    if (!mayCall(operation, caller)) return 'illegal'
    if (draft.query.some(([, value]) => value.length > LONGEST_PARAMETER)) return 'unclear'
    const judged = [parametersVerdict(draft, operation), bodyVerdict(draft, operation)]
    if (draft.broken || judged.includes('illegal')) return 'illegal'
    return draft.unclear || judged.includes('unclear') ? 'unclear' : 'legal'
  }

  function parametersVerdict({ query, headers, body }: Draft, operation: Operation): Verdict {
    const verdicts = (operation.parameters ?? []).map((parameter): Verdict => {
      const { name, required } = parameter
      const schema = parameter.schema as Schema
      if (parameter.in === 'header') {
        const sent = headers.filter(([other]) => other === name)
        // Several are one, joined by commas.
        if (sent.length > 1) return 'unclear'
        return sent.every(([, value]) => isRight(schema, value.trim())) ? 'legal' : 'illegal'
      }
      if (parameter.in !== 'query') return 'legal'
      const values = query.filter(([other]) => other === name).map(([, value]) => value)
      if (values.length === 0) return required ? 'illegal' : 'legal'
      if (isOverridden(parameter, body)) return 'unclear'
      if (schema.type === 'array') {
        const items = values.flatMap((value) => value.split(','))
        if (items.some((item) => item !== item.trim() || item === '')) return 'unclear'
        const read = items.map((item) => readAs(schema.items as Schema, item))
        return isRight(schema, read) ? 'legal' : 'illegal'
      }
      if (values.length > 1) return 'illegal'
      if (values[0] === '' && !required) return 'legal'
      return isRight(schema, readAs(schema, values[0] as string)) ? 'legal' : 'illegal'
    })
    return (
      verdicts.find((verdict) => verdict === 'illegal') ??
      verdicts.find((verdict) => verdict === 'unclear') ??
      'legal'
    )
  }

  function bodyVerdict(draft: Draft, { requestBody }: Operation): Verdict {
    const bytes = plainBodyOf(draft)
    if (!requestBody) return bytes === undefined ? 'legal' : 'unclear'
    if (bytes === undefined || bytes.toString().trim() === '')
      return requestBody.required ? 'illegal' : 'unclear'
    const essence = draft.mediaType?.split(';')[0]?.trim().toLowerCase()
    // JSON is read where nothing, or text, is what it is said to be.
    if (essence === undefined || essence === 'text/plain') return 'unclear'
    const { schema } = requestBody.content[essence] ?? {}
    if (!schema) return 'illegal'
    if (!isUtf8(bytes)) return 'illegal'
    if (!/[/+]json$/.test(essence)) return draft.bytes ? 'unclear' : 'legal'
    const text = String(bytes)
    // Who reads JSON may pass a byte order mark over or refuse it (RFC 8259, 8.1).
    const unmarked = text.replace(/^\ufeff/, '')
    try {
      if (!isRight(schema, JSON.parse(unmarked))) return 'illegal'
    } catch {
      return 'illegal'
    }
    return bytes.length > SURELY_SHORT_BYTES ||
      unmarked !== text ||
      /charset|"(__proto__|constructor)"|\[{20}/i.test(`${draft.mediaType}${text}`)
      ? 'unclear'
      : 'legal'
  }

  /** Whether an answer says that a request is not legal; the one to HEAD cannot say what is wrong with it. */
  const saysIllegal = ({ method }: Draft, answer: Answer) =>
    method !== 'HEAD' && REFUSED_AS_ILLEGAL.has(answer.status) && !BEYOND_SCHEMAS.test(codeOf(answer))

  /** What of an exchange is not as it has to be. */
  function problemsOf(draft: Draft, caller: Caller, { answers, ms }: Exchange): string[] {
    const problems = answers.flatMap((answer) => problemsOfAny(answer))
    if (ms > slowestMs) problems.push(`it took ${Math.round(ms)} ms`)
    const [answer] = answers
    if (draft.garble) {
      if (draft.broken && answer?.status !== 400) problems.push('what is not legal was taken')
      return problems
    }
    if (!answer || answers.length > 1) return [...problems, `${answers.length} answers came`]
    const operation = operationOf(draft)
    if (operation) problems.push(...problemsOfOperation(draft, operation, answer))
    const verdict = verdictOn(draft, caller)
    if (verdict === 'illegal' && answer.status < 400 && !OF_A_PART.test(textOf(answer)))
      problems.push('what is not legal was taken')
    if (verdict === 'legal' && saysIllegal(draft, answer)) problems.push('what is legal was refused')
    if (isNoText(draft) && READ.test(codeOf(answer))) problems.push('a body that is no UTF-8 was read')
    return problems
  }

  /** What has to be true of every answer, whatever was asked. */
  function problemsOfAny(answer: Answer): string[] {
    const text = textOf(answer)
    const problems: string[] = []
    if (answer.status >= 500) problems.push('the service failed')
    if (text.includes(SECRET) || JSON.stringify(answer.headers).includes(SECRET))
      problems.push('it tells what is somebody else’s')
    const type = String(answer.headers['content-type'])
    // Where there is no value, text messages say so; which operations have those is in the document.
    const isMessage = answer.status === 404 && /^text\/plain\b/.test(type)
    if (answer.status >= 400 && text !== '' && !isMessage) {
      if (!/^application\/json\b/.test(type)) problems.push('an error that is no JSON')
      else problems.push(...validator.mistakes(errors, JSON.parse(text)))
    }
    return problems
  }

  function problemsOfOperation(draft: Draft, operation: Operation, answer: Answer): string[] {
    const code = codeOf(answer)
    if (OF_ANY_REQUEST[code] === answer.status) return []
    // What an answer without a body would have been, only the one to GET says.
    if (draft.method === 'HEAD' && answer.status >= 400) return []
    return mistakesOfAnswer(validator, operation, answer)
  }

  return { verdictOn, problemsOf, operationOf }
}

/** Whether a caller may use an operation at all. */
function mayCall({ security = [], description = '' }: Operation, { scopes }: Caller): boolean {
  if (security.length === 0 || security.some((scheme) => Object.keys(scheme).length === 0)) return true
  if (scopes === null) return true
  const [, needed = ''] = /A key needs the scopes? ([^.]+)\./.exec(description) ?? []
  const names = needed.match(/\w+(?=`)/g)
  return names?.every((name) => scopes?.includes(name)) ?? false
}

/** Whether the body has a parameter, too: it wins. */
function isOverridden({ name }: { name: string }, body: unknown): boolean {
  return body !== null && typeof body === 'object' && name in body
}

function readAs({ type, anyOf }: Schema, text: string): unknown {
  const types = [type, ...(anyOf ?? []).map((one) => one.type)]
  const isNumeric = types.includes('number') || types.includes('integer')
  if (isNumeric && DECIMAL.test(text)) return Number(text)
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

/** Whether a body that is read is none of UTF-8; those of GET are not. */
function isNoText(draft: Draft): boolean {
  const bytes = /^(GET|HEAD)$/i.test(draft.method) ? undefined : plainBodyOf(draft)
  return bytes !== undefined && !isUtf8(bytes)
}

export function codeOf(answer: Answer): string {
  if (answer.status < 400 || answer.body.length === 0) return ''
  try {
    return JSON.parse(textOf(answer)).code ?? ''
  } catch {
    return ''
  }
}
