import { ErrorBody, EXAMPLE_REQUEST_ID } from '#schemas/common.ts'
import { ERRORS, type ErrorCode, EXAMPLE_SENTENCES, OF_ALL_REQUESTS } from '#src/errors.ts'
import { type Part, pascalCase, refTo } from './openapi-repeats.ts'

/** The component of the errors that every operation may answer with. */
export const ANY_ERROR = 'AnyError'

const JSON_TYPE = 'application/json'

const CODES = Object.keys(ERRORS) as ErrorCode[]

const OF_ALL = new Set<ErrorCode>(OF_ALL_REQUESTS)

/** Headers that any error may have; the document lists them once, at the default. */
const HEADERS_OF_ALL = ['X-Request-Id', 'Retry-After', 'WWW-Authenticate', 'Cache-Control', 'Vary']

/** An example of each error, for the components of the document. */
export const ERROR_EXAMPLES = Object.fromEntries(CODES.map((code) => [code, { value: exampleOf(code) }]))

function exampleOf(code: ErrorCode) {
  const [{ details }] = (ErrorBody as unknown as { examples: [{ details: unknown }] }).examples
  const about = code === 'INVALID_PARAMETERS' ? { details } : {}
  return { error: EXAMPLE_SENTENCES[code], code, ...about, request_id: EXAMPLE_REQUEST_ID }
}

/** The error responses that operations refer to: one for each set of codes of a status. */
export class ErrorResponses {
  readonly components: Record<string, Part> = {
    [ANY_ERROR]: {
      ...responseOf(CODES.filter((code) => OF_ALL.has(code))),
      headers: Object.fromEntries(HEADERS_OF_ALL.map((name) => [name, refTo('headers', name)])),
    },
  }

  /**
   * Puts references in the place of an operation's error responses. Errors that any operation may answer with
   * are its `default`.
   *
   * @param responses by status; each error names its codes by the keys of its examples
   */
  referTo(responses: Record<string, Part>): void {
    for (const [status, response] of Object.entries(responses)) {
      if (Number(status) < 400) continue
      delete responses[status]
      const codes = codesOf(response).filter((code) => !OF_ALL.has(code))
      if (codes.length > 0) responses[status] = refTo('responses', this.#nameOf(codes, response))
    }
    // Linters want an operation to name an error of the client.
    if (!Object.keys(responses).some((status) => status.startsWith('4'))) {
      responses[400] = refTo('responses', ANY_ERROR)
    }
    responses.default = refTo('responses', ANY_ERROR)
  }

  /** The component of some codes, with the headers of all operations that refer to it. */
  #nameOf(codes: ErrorCode[], { headers, content }: Part): string {
    const { [JSON_TYPE]: _, ...otherMedia } = content as Part
    const inText = Object.keys(otherMedia).length > 0 ? 'InText' : ''
    const name = codes.map(pascalCase).join('Or') + inText
    const { headers: present } = this.components[name] ?? {}
    const { content: json, ...rest } = responseOf(codes)
    const all = Object.entries({ ...(present as Part), ...(headers as Part) })
    const own = all.filter(([header]) => !HEADERS_OF_ALL.includes(header))
    this.components[name] = {
      ...rest,
      ...(own.length > 0 && { headers: Object.fromEntries(own) }),
      content: { ...(json as Part), ...otherMedia },
    }
    return name
  }
}

/** The codes of an error response, in the order of the catalogue. */
function codesOf({ content }: Part): ErrorCode[] {
  const { examples = {} } = (content as Record<string, { examples?: Part }>)[JSON_TYPE] ?? {}
  return CODES.filter((code) => code in examples)
}

function responseOf(codes: ErrorCode[]): Part {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
    content: {
      [JSON_TYPE]: {
        schema: refTo('schemas', 'Error'),
        examples: Object.fromEntries(codes.map((code) => [code, refTo('examples', code)])),
      },
    },
  }
}
