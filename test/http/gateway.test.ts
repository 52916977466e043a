import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Document, documentOf, type Operation, validatorOf } from '#test/setup/document.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

/*
 * A gateway that knows the document alone stands between clients and the service: it lets through what the
 * document has, in both directions. Requests are made of the document's own schemas.
 */

let service: TestAppWithPerson
let document: Document
let validator: ReturnType<typeof validatorOf>
beforeAll(async () => {
  service = await createTestAppWithPerson()
  document = await documentOf(service.app, 'all')
  validator = validatorOf(document)
})
afterAll(() => service.close())

interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
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

const resolved = ({ $ref = '' }: Schema) =>
  (document.components?.schemas?.[$ref.split('/').at(-1) ?? ''] ?? {}) as Schema

/** Makes values of a schema, most of them those that it shows. */
function valuesOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const named = resolved(schema)
    return /Polygon$/.test(schema.$ref) ? fc.constantFrom(...geometries(schema.$ref)) : valuesOf(named)
  }
  const several = schema.oneOf ?? schema.anyOf
  const made = several ? fc.oneof(...several.map(valuesOf)) : plainValuesOf(schema)
  const shown = schema.examples ?? []
  return shown.length > 0
    ? fc.oneof({ arbitrary: made, weight: 1 }, { arbitrary: fc.constantFrom(...shown), weight: 3 })
    : made
}

function geometries($ref: string): object[] {
  const multi = { type: 'MultiPolygon', coordinates: [[RING]] }
  return $ref.endsWith('/MultiPolygon') ? [multi] : [{ type: 'Polygon', coordinates: [RING] }]
}

function plainValuesOf(schema: Schema): fc.Arbitrary<unknown> {
  const { const: only, enum: values, type, items = {}, minItems = 0, properties = {}, required = [] } = schema
  if (only !== undefined) return fc.constant(only)
  if (values) return fc.constantFrom(...values)
  const kinds = [type].flat().map((kind): fc.Arbitrary<unknown> => {
    switch (kind) {
      case 'string':
        return fitting(schema, TEXTS)
      case 'number':
        return fitting(schema, NUMBERS)
      case 'integer':
        return fitting(schema, NUMBERS.filter(Number.isInteger))
      case 'boolean':
        return fc.boolean()
      case 'array':
        return fc.uniqueArray(valuesOf(items), {
          minLength: minItems,
          maxLength: Math.min(minItems + 2, schema.maxItems ?? Infinity),
          selector: (value) => JSON.stringify(value),
        })
      case 'object':
        return fc.record(
          Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, valuesOf(member)])),
          { requiredKeys: required },
        )
      default:
        return fc.constant(null)
    }
  })
  return fc.oneof(...kinds)
}

function fitting({ examples: _, ...rule }: Schema, values: unknown[]): fc.Arbitrary<unknown> {
  const fit = values.filter((value) => validator.mistakes(rule, value).length === 0)
  return fit.length > 0 ? fc.constantFrom(...fit) : fc.constant(null)
}

/** A legal request: what its operation requires, and some of what it does not. */
function requestTo(operation: Operation) {
  // Cursors are none that anybody can make up.
  const parameters = (operation.parameters ?? []).filter(
    (parameter) => parameter.in === 'query' && parameter.name !== 'cursor',
  )
  const query = fc.record(
    Object.fromEntries(
      parameters.map(({ name, schema, example }) => [
        name,
        valuesOf({ ...(schema as Schema), ...(example !== undefined && { examples: [example] }) }),
      ]),
    ),
    { requiredKeys: parameters.flatMap(({ name, required }) => (required ? [name] : [])) },
  )
  const { schema } = operation.requestBody?.content['application/json'] ?? {}
  const body = schema ? valuesOf(schema as Schema) : fc.constant(undefined)
  return fc.record({ query, body })
}

/** As it is validated by a gateway: what is there is as the schemas say, and what is required is there. */
function isLegal(operation: Operation, query: Record<string, unknown>, body: unknown): boolean {
  const isRight = (schema: object | undefined, value: unknown) =>
    schema === undefined || validator.mistakes(schema, value).length === 0
  return (
    (operation.parameters ?? []).every(
      ({ name, schema }) => !(name in query) || isRight(schema, query[name]),
    ) && isRight(operation.requestBody?.content['application/json']?.schema, body)
  )
}

/** Which mistakes a legal request may have: those that take the service's data, or two fields, to see. */
const BEYOND_SCHEMAS = /^(INVALID_PARAMETERS|INVALID_GEOMETRY|UNKNOWN_COUNTRY|CROP_NOT_AVAILABLE)$/

const RUNS = 40

test.each([
  ['post', '/advisory/yield/point'],
  ['get', '/advisory/fertilizer/point'],
  ['post', '/advisory/forage/point'],
  ['post', '/advisory/point'],
  ['post', '/advisory/isfm/points'],
  ['post', '/advisory/forage/points'],
  ['post', '/advisory/yield'],
  ['post', '/advisory/forage'],
  ['post', '/validate_location'],
  ['get', '/admin'],
  ['get', '/history/my'],
  ['get', '/stats'],
])(`lets ${RUNS} legal requests to %s %s through, and their answers`, async (method, path) => {
  const operation = document.paths[path]?.[method] as Operation
  const statuses: number[] = []
  await fc.assert(
    fc.asyncProperty(requestTo(operation), async ({ query, body }) => {
      expect(isLegal(operation, query, body)).toBe(true)
      const response = await service.app.inject({
        method: method.toUpperCase() as 'POST',
        url: path,
        query: Object.fromEntries(
          Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
        ),
        headers: {
          ...service.person.headers,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      })
      const { content = {} } = operation.responses[response.statusCode] ?? {}
      const [mediaType = ''] = String(response.headers['content-type']).split(';')
      expect(Object.keys(content), response.body).toContain(mediaType)
      expect(validator.mistakes(content[mediaType]?.schema ?? {}, response.json())).toEqual([])
      if (response.statusCode === 400) expect(response.json().code).toMatch(BEYOND_SCHEMAS)
      expect(response.statusCode).toBeLessThan(500)
      statuses.push(response.statusCode)
    }),
    // The same requests each time: with others a mistake would come and go.
    { numRuns: RUNS, seed: 11 },
  )
  expect(statuses.length).toBeGreaterThanOrEqual(RUNS)
  expect(statuses).toContain(200)
})
