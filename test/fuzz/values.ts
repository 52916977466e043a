import fc from 'fast-check'
import type { Document, Validator } from '#test/setup/document.ts'

/** What of JSON Schema the document uses to say what values are. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  pattern?: string
  items?: Schema
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  examples?: unknown[]
}

/** Values that clients send, of every sort that they do; the schemas choose among them. */
const TEXTS = [
  ...['', 'wheat', 'Wheat', 'potato', 'eth', 'RWA', 'ken', 'gha', 'ETH-01', 'KEN-01', 'nowhere', 'My field'],
  ...['2026-07', 'July 2026', ' jul 2026 ', '2020-01', '2026-07-01', '2026-07-01T08:30:00Z'],
  ...['ዓርብ 🌾', "'; --", 'a,b', '%00', 'area_ha', 'amina@example.org', 'teff grows at dawn'],
  ...['Polygon', 'MultiPolygon', 'Feature', 'FeatureCollection', 'Point'],
]
const NUMBERS = [9.5, 38.5, -1, 36.5, -1.95, 30.06, 0, 1, 2, 3, 4, 5, 50, 90, -90, 180, -180]
const RING = [
  [38.5, 9.5],
  [38.6, 9.5],
  [38.6, 9.6],
  [38.5, 9.5],
]
const LONGEST_TEXT = 40
const LARGEST_NUMBER = 1e6

/** The value that a caller was given or gave under a name before; another one where there is none. */
export class Remembered {
  readonly name: string
  readonly otherwise: unknown
  constructor(name: string, otherwise: unknown) {
    this.name = name
    this.otherwise = otherwise
  }
}

/** Of so many optional members hardly any choice is one that a service takes; some at a time are. */
const MOST_OPTIONAL = 3

function onlyNames(value: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)))
}

/**
 * Makes arbitraries of what the schemas of a document take, most of it values that it shows, that clients send, or that
 * are {@link Remembered}.
 */
export function valuesOfDocument(document: Document, validator: Validator) {
  // Operations have most of them in common, and to compile one takes milliseconds.
  const components = new Map<string, fc.Arbitrary<unknown>>()
  const rules = new Map<string, Schema>()

  function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
    const { $ref } = schema
    if ($ref !== undefined) {
      const made = components.get($ref)
      const values = made ?? (/Polygon$/.test($ref) ? geometries($ref) : valuesOf(resolved($ref)))
      components.set($ref, values)
      return values
    }
    const several = schema.oneOf ?? schema.anyOf
    const made = several ? fc.oneof(...several.map(valuesOf)) : plainValuesOf(schema)
    const shown = schema.examples ?? []
    return shown.length > 0
      ? fc.oneof({ arbitrary: made, weight: 1 }, { arbitrary: fc.constantFrom(...shown), weight: 3 })
      : made
  }

  const resolved = ($ref: string) =>
    (document.components?.schemas?.[$ref.split('/').at(-1) ?? ''] ?? {}) as Schema

  function plainValuesOf(schema: Schema): fc.Arbitrary<unknown> {
    const { const: only, enum: values, type, items = {}, minItems = 0 } = schema
    if (only !== undefined) return fc.constant(only)
    if (values) return fc.constantFrom(...values)
    const kinds = [type].flat().map((kind): fc.Arbitrary<unknown> => {
      switch (kind) {
        case 'string':
          return textsOf(schema)
        case 'number':
          return numbersOf(schema)
        case 'integer':
          return integersOf(schema)
        case 'boolean':
          return fc.boolean()
        case 'array':
          return fc.uniqueArray(valuesOf(items), {
            minLength: minItems,
            maxLength: Math.min(minItems + 2, schema.maxItems ?? Infinity),
            selector: (value) => JSON.stringify(value),
          })
        case 'object':
          return objectsOf(schema)
        default:
          return fc.constant(null)
      }
    })
    return fc.oneof(...kinds)
  }

  function textsOf(schema: Schema) {
    const { minLength = 0, maxLength = LONGEST_TEXT } = schema
    const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, LONGEST_TEXT)) }
    return fitting(schema, TEXTS, fc.string({ unit: 'binary', ...length }))
  }

  function numbersOf(schema: Schema) {
    const { minimum: min = -LARGEST_NUMBER, maximum: max = LARGEST_NUMBER } = schema
    return fitting(schema, NUMBERS, fc.double({ min, max, noNaN: true }))
  }

  function integersOf(schema: Schema) {
    const { minimum: min = -LARGEST_NUMBER, maximum: max = LARGEST_NUMBER } = schema
    return fitting(schema, NUMBERS.filter(Number.isInteger), fc.integer({ min, max }))
  }

  function objectsOf({ properties = {}, required: requiredKeys = [] }: Schema): fc.Arbitrary<unknown> {
    const members = Object.entries(properties).map(([name, member]) => [name, memberValuesOf(name, member)])
    const all = fc.record<Record<string, unknown>>(Object.fromEntries(members), { requiredKeys })
    const optional = Object.keys(properties).filter((name) => !requiredKeys.includes(name))
    if (optional.length <= MOST_OPTIONAL) return all
    const kept = fc.subarray(optional, { maxLength: MOST_OPTIONAL })
    return fc.tuple(all, kept).map(([value, names]) => onlyNames(value, [...requiredKeys, ...names]))
  }

  /** The values of a member or a parameter, which a caller may have been given before. */
  function memberValuesOf(name: string, schema: Schema): fc.Arbitrary<unknown> {
    const values = valuesOf(schema)
    if (![schema.type].flat().includes('string') || schema.enum) return values
    const remembered = values.map((value) => new Remembered(name, value))
    return fc.oneof({ arbitrary: values, weight: 2 }, { arbitrary: remembered, weight: 1 })
  }

  /** Mostly values that clients send; what was drawn besides counts where it is as the schema says. */
  function fitting({ examples: _, ...own }: Schema, values: unknown[], drawn: fc.Arbitrary<unknown>) {
    const text = JSON.stringify(own)
    const rule = rules.get(text) ?? own
    rules.set(text, rule)
    const fits = (value: unknown) => validator.mistakes(rule, value).length === 0
    const fit = values.filter(fits)
    const usual = fit.length > 0 ? fc.constantFrom(...fit) : fc.constant(null)
    const unusual = fc.tuple(drawn, usual).map(([value, instead]) => (fits(value) ? value : instead))
    return fc.oneof({ arbitrary: usual, weight: 4 }, { arbitrary: unusual, weight: 1 })
  }

  return { valuesOf, memberValuesOf }
}

/** Polygons that are one, and rings that may be none. */
function geometries($ref: string): fc.Arbitrary<object> {
  const position = fc.tuple(
    fc.double({ min: 33, max: 48, noNaN: true }),
    fc.double({ min: 3, max: 15, noNaN: true }),
  )
  const drawn = fc
    .array(position, { minLength: 3, maxLength: 6 })
    .map((positions) => [...positions, positions[0]])
  const ring = fc.oneof(
    { arbitrary: fc.constant(RING), weight: 3 },
    { arbitrary: drawn as fc.Arbitrary<number[][]>, weight: 1 },
  )
  return ring.map((positions) =>
    $ref.endsWith('/MultiPolygon')
      ? { type: 'MultiPolygon', coordinates: [[positions]] }
      : { type: 'Polygon', coordinates: [positions] },
  )
}
