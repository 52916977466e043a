import type { OpenAPIV3_1 } from 'openapi-types'
import { EXAMPLE_REQUEST_ID } from '#schemas/common.ts'
import { type Components, type ExampleSchema, exampleOf } from './openapi-examples.ts'

interface Parameter {
  name: string
  description?: string
  schema?: ExampleSchema
  example?: unknown
}

/** Of parameters whose schema says too little. */
const OF_NAME: Record<string, unknown> = {
  budget: 15_000,
  cursor: 'eyJpZCI6MTB9',
  forecast_period: '2026-07',
  from: '2026-07-01',
  histogram: 10,
  id: '3f6d2a0e-0f7c-4b6e-9d1b-7c4f6f1f2a10',
  'If-None-Match': '"nV3qkx0GyQ8m2J0s1tYfR6bWcZa"',
  limit: 100,
  parent: 'ETH-01',
  pass: ['farmer'],
  Prefer: 'history=none',
  quantiles: [0.1, 0.5, 0.9],
  threshold: 5,
  to: '2026-12-31',
  'X-Request-Id': EXAMPLE_REQUEST_ID,
}

/** What a description shows of a text. */
const SHOWN = /such as `([^`]+)`/

/**
 * Gives each parameter an example, where it has none: that of another one of its name, what its description shows, or what
 * follows from its schema. Tools make calls of them (Postman). The page of the documentation has none of it: its forms would
 * send what is better left out.
 */
export function withParameterExamples(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const schemas = (document.components?.schemas ?? {}) as Components
  const parameters = [
    ...Object.values(document.paths ?? {})
      .flatMap((path) => Object.values(path ?? {}) as { parameters?: (Parameter | { $ref: string })[] }[])
      .flatMap((operation) => operation.parameters ?? []),
    ...(Object.values(document.components?.parameters ?? {}) as Parameter[]),
  ].filter((parameter): parameter is Parameter => 'name' in parameter)
  const known = new Map(
    parameters.flatMap(({ name, example }) => (example === undefined ? [] : [[name, example]])),
  )
  for (const parameter of parameters) {
    const { name, description = '', schema = {} } = parameter
    parameter.example ??=
      SHOWN.exec(description)?.[1] ?? known.get(name) ?? OF_NAME[name] ?? exampleOf(schema, schemas)
  }
  return document
}
