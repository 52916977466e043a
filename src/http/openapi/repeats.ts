import { ErrorBody, EXAMPLE_REQUEST_ID } from '#schemas/common.ts'
import { ERRORS, type ErrorCode, EXAMPLE_SENTENCES, OF_ALL_REQUESTS } from '#src/errors.ts'

export type Part = Record<string, unknown>

/** A part where it stands in the document. */
export interface Slot {
  owner: Part
  key: string
  name: string
  /** Component or operation that it stands in. */
  within: string
  value: Part
}

export function refTo(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` }
}

export function isRef(part: Part): boolean {
  return '$ref' in part
}

export function listSlots(owner: Part, within: string): Slot[] {
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

export class Repeats {
  #slotsByText = new Map<string, Slot[]>()

  add(slot: Slot): void {
    const text = JSON.stringify(slot.value, inOrderOfKeys)
    const slots = this.#slotsByText.get(text)
    if (slots) slots.push(slot)
    else this.#slotsByText.set(text, [slot])
  }

  /** The longest first, with a free name; without parts that only copies of a longer one repeat. */
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

/** For `JSON.stringify`: the order of members does not matter. */
function inOrderOfKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function markAll(part: unknown, marked: WeakSet<object>): void {
  if (part === null || typeof part !== 'object') return
  marked.add(part)
  for (const inner of Object.values(part)) markAll(inner, marked)
}

/** The name of a part, behind the name of its component where it is taken. */
function freeName({ name, within }: Slot, taken: Part): string {
  const short = pascalCase(name)
  if (!(short in taken)) return short
  const long = `${pascalCase(within)}${short}`
  for (let count = 1; ; count++) {
    const numbered = count === 1 ? long : `${long}${count}`
    if (!(numbered in taken)) return numbered
  }
}

const ANY_ERROR = 'AnyError'

const JSON_TYPE = 'application/json'

const OF_ALL = new Set<ErrorCode>(OF_ALL_REQUESTS)

/** Headers of any error, which the default response lists. */
const HEADERS_OF_ALL = ['X-Request-Id', 'Retry-After', 'WWW-Authenticate', 'Cache-Control', 'Vary']

/** Those that no operation has are left out later. */
export function listErrorExamples(): Record<string, object> {
  const codes = Object.keys(ERRORS) as ErrorCode[]
  return Object.fromEntries(codes.map((code) => [code, { value: errorExample(code) }]))
}

function errorExample(code: ErrorCode) {
  const [{ details }] = (ErrorBody as unknown as { examples: [{ details: unknown }] }).examples
  const about = code === 'INVALID_PARAMETERS' ? { details } : {}
  return { error: EXAMPLE_SENTENCES[code], code, ...about, request_id: EXAMPLE_REQUEST_ID }
}

/** Error responses: one component for each set of codes of a status. */
export class ErrorResponses {
  readonly components: Record<string, Part> = {
    [ANY_ERROR]: {
      ...createResponse(OF_ALL_REQUESTS),
      headers: Object.fromEntries(HEADERS_OF_ALL.map((name) => [name, refTo('headers', name)])),
    },
  }

  /** Replaces error responses by references; errors of all operations are the `default`. Keys of examples are the codes. */
  referTo(responses: Record<string, Part>): void {
    for (const [status, response] of Object.entries(responses)) {
      if (Number(status) < 400) continue
      delete responses[status]
      const codes = listCodes(response).filter((code) => !OF_ALL.has(code))
      if (codes.length > 0) responses[status] = refTo('responses', this.#nameOf(codes, response))
    }
    // Linters require an error of the client.
    if (!Object.keys(responses).some((status) => status.startsWith('4'))) {
      responses[400] = refTo('responses', ANY_ERROR)
    }
    responses.default = refTo('responses', ANY_ERROR)
  }

  /** Name of the component of some codes, with the headers of all its operations. */
  #nameOf(codes: ErrorCode[], { headers, content }: Part): string {
    const { [JSON_TYPE]: _, ...otherMedia } = content as Part
    const inText = Object.keys(otherMedia).length > 0 ? 'InText' : ''
    const name = codes.map(pascalCase).join('Or') + inText
    const { headers: present } = this.components[name] ?? {}
    const { content: json, ...rest } = createResponse(codes)
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

function listCodes({ content }: Part): ErrorCode[] {
  const { examples = {} } = (content as Record<string, { examples?: Part }>)[JSON_TYPE] ?? {}
  return Object.keys(ERRORS).filter((code): code is ErrorCode => code in examples)
}

function createResponse(codes: ErrorCode[]): Part {
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

/** The target of a reference, or the first of several schemas. */
function findSuccessor(
  { $ref, anyOf, oneOf }: ExampleSchema,
  components: Components,
): ExampleSchema | undefined {
  return $ref === undefined ? (anyOf ?? oneOf)?.[0] : components[$ref.split('/').at(-1) as string]
}

export function hasExample(schema: ExampleSchema, components: Components): boolean {
  if (schema.examples) return true
  const successor = findSuccessor(schema, components)
  return successor !== undefined && hasExample(successor, components)
}

const OF_FORMAT: Record<string, string> = {
  uuid: '3f6d2a0e-0f7c-4b6e-9d1b-7c4f6f1f2a10',
  date: '2026-07-01',
  'date-time': '2026-07-01T08:30:00.000Z',
}

/** The example of a schema, or one of its parts and required members. */
export function makeExample(schema: ExampleSchema, components: Components): unknown {
  const { examples, type, properties = {}, required = [], items, minItems = 1, ...rule } = schema
  if (examples) return examples[0]
  const successor = findSuccessor(schema, components)
  if (successor) return makeExample(successor, components)
  if (rule.const !== undefined) return rule.const
  if (rule.enum) return rule.enum[0]
  const types = [type].flat()
  switch (types[0]) {
    case 'object':
      return Object.fromEntries(
        required.map((name) => [name, makeExample(properties[name] ?? {}, components)]),
      )
    case 'array':
      return Array.from({ length: minItems }, () => makeExample(items ?? {}, components))
    case 'string':
      return OF_FORMAT[rule.format ?? ''] ?? (types.includes('null') ? null : '…')
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return rule.minimum ?? 1
  }
}
