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
