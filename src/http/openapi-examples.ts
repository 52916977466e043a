import type { ErrorBody } from '#schemas/common.ts'
import { validationError } from './validation.ts'

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

/** The members of what a schema describes. */
export function membersOf(schema: ExampleSchema, components: Components): Record<string, ExampleSchema> {
  const successor = successorOf(schema, components)
  return successor ? membersOf(successor, components) : (schema.properties ?? {})
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

/** What can be wrong with a field whatever else is sent, and which schemas it is wrong for. */
const VIOLATIONS: { keyword: string; breaks: (schema: ExampleSchema) => boolean }[] = [
  {
    keyword: 'type',
    breaks: ({ type }) => [type].flat().some((name) => name === 'number' || name === 'integer'),
  },
  { keyword: 'enum', breaks: (schema) => schema.enum !== undefined },
  { keyword: 'minLength', breaks: ({ minLength = 0 }) => minLength > 0 },
  { keyword: 'minItems', breaks: ({ minItems = 0 }) => minItems > 0 },
  // A single letter is no date, month or e-mail, but any other text.
  { keyword: 'pattern', breaks: ({ pattern = '' }) => !new RegExp(pattern, 'u').test('x') },
  { keyword: 'maxLength', breaks: ({ maxLength }) => maxLength !== undefined },
]

/** The answer to a request of which one field is wrong; undefined where none can be, as far as is known here. */
export function violationOf(fields: Record<string, ExampleSchema>): ErrorBody | undefined {
  for (const { keyword, breaks } of VIOLATIONS) {
    const wrong = Object.entries(fields).find(([, schema]) => breaks(schema))
    if (!wrong) continue
    const [field, parentSchema] = wrong
    const params = { allowedValues: parentSchema.enum, pattern: parentSchema.pattern }
    const error = { keyword, params, parentSchema, instancePath: `/${field}`, schemaPath: '' }
    return validationError([error], {}).body
  }
  return undefined
}
