import { type Components, type ExampleSchema, makeExample } from '#src/http/openapi/repeats.ts'
import { escaped } from '#src/http/plain-page.ts'

interface Schema extends ExampleSchema {
  description?: string
  maximum?: number
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
}

export interface Media {
  schema?: Schema
  example?: unknown
  examples?: Record<string, { value?: unknown }>
}

interface Field {
  name: string
  schema?: Schema
  required?: boolean
  /** Instead of that of the schema. */
  description?: string
}

/** Objects in objects that are shown: geometries lead back to themselves. */
const DEEPEST = 3

/** Members of one schema go before those of another. */
function combine(one: Schema, other: Schema): Schema {
  return {
    ...other,
    ...one,
    properties: { ...other.properties, ...one.properties },
    required: [...(other.required ?? []), ...(one.required ?? [])],
  }
}

/** Reads schemas of a document, and makes lists of their fields. */
export class Fields {
  readonly #document: object
  readonly #components: Components
  readonly #markdown: (text: string) => string

  /** @param markdown makes HTML of a description */
  constructor(document: { components?: { schemas?: Components } }, markdown: (text: string) => string) {
    this.#document = document
    this.#components = document.components?.schemas ?? {}
    this.#markdown = markdown
  }

  /** The target of a reference, with what stands beside it. */
  resolve<Part>(part: Part): Part {
    const { $ref, ...beside } = part as { $ref?: string }
    if ($ref === undefined) return part
    const found = $ref
      .slice(2)
      .split('/')
      .reduce((value: unknown, name) => (value as Record<string, unknown>)?.[name], this.#document)
    return { ...(found as Part), ...beside }
  }

  readExample({ schema = {}, example, examples = {} }: Media): unknown {
    const [first] = Object.values(examples)
    return (
      example ?? (first && this.resolve(first).value) ?? makeExample(this.#merge(schema), this.#components)
    )
  }

  /** What an object, or each of a list, has. */
  listMembers(schema: Schema): Field[] {
    const { properties = {}, required = [], items } = this.#merge(schema)
    const own = Object.entries(properties)
    if (own.length === 0 && items) return this.listMembers(items)
    return own.map(([name, member]) => ({ name, schema: member, required: required.includes(name) }))
  }

  /** Names of fields, also of objects in objects. */
  listNames(schema: Schema, depth = 0): string[] {
    if (depth > DEEPEST) return []
    return this.listMembers(schema).flatMap((one) => [
      one.name,
      ...this.listNames(one.schema ?? {}, depth + 1),
    ])
  }

  /** HTML of fields, those of objects folded in them. */
  render(fields: readonly Field[], depth = 0): string {
    const rows = fields.map(({ name, schema = {}, required, description }) => {
      const inner = depth < DEEPEST ? this.listMembers(schema) : []
      const words = [this.#nameType(schema), required && 'required'].filter(Boolean).join(', ')
      const text = description ?? this.#merge(schema).description ?? ''
      const head = `<code>${escaped(name)}</code> <span class="small">${words}</span>`
      const members = inner.length > 0 ? this.#fold(name, this.render(inner, depth + 1)) : ''
      return `<dt>${head}</dt><dd>${this.#markdown(text)}${this.#writeRule(schema)}${members}</dd>`
    })
    return `<dl class="fields">${rows.join('')}</dl>`
  }

  #fold(name: string, list: string): string {
    return `<details><summary>Members of <code>${escaped(name)}</code></summary>${list}</details>`
  }

  /** A schema whose parts are one; of alternatives the first that is not null. */
  #merge(schema: Schema): Schema {
    const { allOf = [], anyOf, oneOf, ...own } = this.resolve(schema)
    const [alternative] = (anyOf ?? oneOf ?? [])
      .map((one) => this.#merge(one))
      .filter(({ type }) => type !== 'null')
    const parts = [...allOf.map((one) => this.#merge(one)), ...(alternative ? [alternative] : [])]
    return parts.reduceRight(combine, own)
  }

  #nameType(schema: Schema): string {
    const { type, items } = this.#merge(schema)
    const names = [type].flat().filter((name) => name !== undefined && name !== 'null')
    return names
      .map((name) => (name === 'array' && items ? `array of ${this.#nameType(items)}` : name))
      .join(' or ')
  }

  #writeRule(schema: Schema): string {
    const { enum: values, minimum, maximum } = this.#merge(schema)
    if (values)
      return ` One of ${values.map((value) => `<code>${escaped(String(value))}</code>`).join(', ')}.`
    return minimum !== undefined && maximum !== undefined ? ` From ${minimum} to ${maximum}.` : ''
  }
}
