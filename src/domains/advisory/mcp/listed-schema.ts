import type { TObject, TSchema } from 'typebox'

/** What of a field agents are not told: what they need not know, or what their hosts do not. */
const UNLISTED = new Set(['format', 'examples', 'documentedAs', '$id', 'minLength', 'maxLength', 'pattern'])

/**
 * A schema as tools are listed with it. The service judges by the whole one, and says what is wrong: what takes part in
 * neither the choice of a tool nor its call is left out, since every agent reads all of it.
 */
export function listedSchema(schema: TObject): Record<string, unknown> & { type: 'object' } {
  return { ...(listed(schema) as object), type: 'object' }
}

function listed(schema: TSchema): unknown {
  const entries = Object.entries(schema).filter(
    ([name, value]) => !UNLISTED.has(name) && !saysNothing(name, value),
  )
  return Object.fromEntries(
    entries.map(([name, value]) => {
      if (name === 'items') return [name, listed(value as TSchema)]
      if (name !== 'properties') return [name, value]
      const fields = Object.entries(value as Record<string, TSchema>)
      return [name, Object.fromEntries(fields.map(([field, inner]) => [field, listed(inner)]))]
    }),
  )
}

function saysNothing(name: string, value: unknown): boolean {
  return (name === 'additionalProperties' && value === true) || (name === 'properties' && isEmpty(value))
}

function isEmpty(value: unknown): boolean {
  return Object.keys(value as object).length === 0
}
