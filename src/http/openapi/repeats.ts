import { ErrorBody, EXAMPLE_REQUEST_ID } from '#schemas/common.ts'
import { ERRORS, type ErrorCode, EXAMPLE_SENTENCES, OF_ALL_REQUESTS } from '#src/errors.ts'

/** A part of the document: an object of OpenAPI or of JSON Schema. */
export type Part = Record<string, unknown>

/** A place in the document, and the part that stands there. */
export interface Slot {
  owner: Part
  key: string
  /** The name that the part has there. */
  name: string
  /** The component or the operation that the place is in. */
  within: string
  value: Part
}

/** The reference to a component. */
export function refTo(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}

export function isRef(part: Part): boolean {
  return '$ref' in part
}

export function slotsOf(owner: Part, within: string): Slot[] {
  return Object.entries(owner).map(([key, value]) => ({
    owner,
    key,
    name: key,
    within,
    value: value as Part,
  }))
}

/** `some_name`, `SOME_NAME` and `Some-Name` as `SomeName`. */
function pascalCase(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/)
  return words
    .map((word) => {
      const rest = word === word.toUpperCase() ? word.slice(1).toLowerCase() : word.slice(1)
      return word.charAt(0).toUpperCase() + rest
    })
    .join('')
}

/** Finds the parts of the document that stand in several places. */
export class Repeats {
  #slotsByText = new Map<string, Slot[]>()

  add(slot: Slot): void {
    const text = JSON.stringify(slot.value, inOrderOfKeys)
    const slots = this.#slotsByText.get(text)
    if (slots) slots.push(slot)
    else this.#slotsByText.set(text, [slot])
  }

  /**
   * The repeated parts, the longest first, each with its first copy and a name that no component has.
   * A part that only copies of a longer one repeat is left out.
   */
  *named(components: Part): Generator<{ name: string; value: Part; slots: Slot[] }> {
    const replaced = new WeakSet<object>()
    const groups = [...this.#slotsByText].sort(([a], [b]) => b.length - a.length)
    for (const [, all] of groups) {
      const slots = all.filter(({ owner }) => !replaced.has(owner))
      const [first, ...copies] = slots
      if (first === undefined || copies.length === 0) continue
      for (const { value } of copies) markAll(value, replaced)
      yield { name: freeName(first, components), value: first.value, slots }
    }
  }
}

/** For `JSON.stringify`: parts are alike in whichever order they name their members. */
function inOrderOfKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function markAll(part: unknown, marked: WeakSet<object>): void {
  if (part === null || typeof part !== 'object') return
  marked.add(part)
  for (const inner of Object.values(part)) markAll(inner, marked)
}

/** The name of a part, with the place of its first copy before it where another part has the name. */
function freeName({ name, within }: Slot, taken: Part): string {
  const short = pascalCase(name)
  if (!(short in taken)) return short
  const long = `${pascalCase(within)}${short}`
  for (let count = 1; ; count++) {
    const numbered = count === 1 ? long : `${long}${count}`
    if (!(numbered in taken)) return numbered
  }
}

/** The component of the errors that every operation may answer with. */
const ANY_ERROR = 'AnyError'

const JSON_TYPE = 'application/json'

const CODES = Object.keys(ERRORS) as ErrorCode[]

const OF_ALL = new Set<ErrorCode>(OF_ALL_REQUESTS)

/** Headers that any error may have; the document lists them once, at the default. */
const HEADERS_OF_ALL = ['X-Request-Id', 'Retry-After', 'WWW-Authenticate', 'Cache-Control', 'Vary']

/** An example of each error, for the components of the document. */
export const ERROR_EXAMPLES = Object.fromEntries(CODES.map((code) => [code, { value: errorExample(code) }]))

function errorExample(code: ErrorCode) {
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

/** A schema, as far as examples are made of it. */
export interface ExampleSchema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  format?: string
  pattern?: string
  minimum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  items?: ExampleSchema
  properties?: Record<string, ExampleSchema>
  required?: string[]
  anyOf?: ExampleSchema[]
  oneOf?: ExampleSchema[]
  examples?: unknown[]
}

export type Components = Record<string, ExampleSchema>

/** What a reference leads to, and of several schemas the first; undefined where a schema stands for itself. */
function successorOf(
  { $ref, anyOf, oneOf }: ExampleSchema,
  components: Components,
): ExampleSchema | undefined {
  return $ref === undefined ? (anyOf ?? oneOf)?.[0] : components[$ref.split('/').at(-1) as string]
}

/** Whether a schema, or the one that it refers to, has an example of its own. */
export function hasExample(schema: ExampleSchema, components: Components): boolean {
  if (schema.examples) return true
  const successor = successorOf(schema, components)
  return successor !== undefined && hasExample(successor, components)
}

const OF_FORMAT: Record<string, string> = {
  uuid: '3f6d2a0e-0f7c-4b6e-9d1b-7c4f6f1f2a10',
  date: '2026-07-01',
  'date-time': '2026-07-01T08:30:00.000Z',
}

/** A value of a schema: its own example, or one made of those of its parts; only required members are in. */
export function exampleOf(schema: ExampleSchema, components: Components): unknown {
  const { examples, type, properties = {}, required = [], items, minItems = 1, ...rule } = schema
  if (examples) return examples[0]
  const successor = successorOf(schema, components)
  if (successor) return exampleOf(successor, components)
  if (rule.const !== undefined) return rule.const
  if (rule.enum) return rule.enum[0]
  switch ([type].flat()[0]) {
    case 'object':
      return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] ?? {}, components)]))
    case 'array':
      return Array.from({ length: minItems }, () => exampleOf(items ?? {}, components))
    case 'string':
      return OF_FORMAT[rule.format ?? ''] ?? 'text'
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return rule.minimum ?? 1
  }
}
