import type { OutgoingHttpHeaders } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { Operation, Validator } from './document.ts'

/** An answer as it came. */
export interface Answer {
  status: number
  headers: OutgoingHttpHeaders
  body: Buffer
}

/** What HTTP or browsers have of every answer, or what the document says once of all of them. */
const OF_ALL =
  /^(accept-encoding|content-(type|length|encoding|security-policy)|date|connection|keep-alive|transfer-encoding|access-control-.*|cross-origin-.*|referrer-policy|strict-transport-security|timing-allow-origin|x-(content-type-options|frame-options|request-id))$/

/** The headers of an answer that its operation has to speak of. */
export function ownHeaders({ headers }: Answer): string[] {
  const { vary } = headers
  const names = Object.keys(headers).filter((name) => !OF_ALL.test(name))
  return vary === 'Accept-Encoding' ? names.filter((name) => name !== 'vary') : names
}

/** The headers that a document has of an answer. */
export const namedHeaders = ({ headers = {} }: Operation['responses'][string]) =>
  Object.keys(headers).map((name) => name.toLowerCase())

/** The text of an answer, which may have come compressed. */
export function textOf({ headers, body }: Answer): string {
  return String(headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body)
}

/** What of an answer is not as its operation says of answers with this status. */
export function mistakesOfAnswer(validator: Validator, { responses }: Operation, answer: Answer): string[] {
  const { default: ofAll } = responses
  const declared = responses[answer.status] ?? ofAll
  // Headers that any error may have are listed once.
  const mayHave = (name: string) => answer.status >= 400 && !!ofAll && namedHeaders(ofAll).includes(name)
  const text = textOf(answer)
  if (!declared) return [`the status: ${text}`]
  const mistakes = ownHeaders(answer)
    .filter((name) => !namedHeaders(declared).includes(name) && !mayHave(name))
    .map((name) => `the header ${name}`)
  if (!declared.content || text === '') return text === '' ? mistakes : [...mistakes, 'that there is a body']
  const [mediaType = ''] = String(answer.headers['content-type']).split(';')
  const { schema, examples = {} } = declared.content[mediaType] ?? {}
  const { examples: ofAny = {} } = ofAll?.content?.[mediaType] ?? {}
  if (!schema) return [...mistakes, `the media type ${mediaType}`]
  const value = /[/+]json$/.test(mediaType) ? JSON.parse(text) : text
  const { code } = value
  // That there is no value is said in a text message as well.
  if (answer.status >= 400 && mediaType !== 'text/plain' && !(code in examples || code in ofAny))
    mistakes.push(`the code ${code}`)
  return [...mistakes, ...validator.mistakes(schema, value)]
}
