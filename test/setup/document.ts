import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { App } from '#src/http/app.ts'
import { call } from './calls.ts'

export type Operation = Omit<OpenAPIV3_1.OperationObject, 'parameters' | 'requestBody' | 'responses'> & {
  parameters?: OpenAPIV3_1.ParameterObject[]
  requestBody?: OpenAPIV3_1.RequestBodyObject
  responses: Record<string, OpenAPIV3_1.ResponseObject>
}

export type Document = Omit<OpenAPIV3_1.Document, 'paths'> & {
  paths: Record<string, Record<string, Operation>>
}

/** The document of a service, for generators or with all media types; only its schemas are references. */
export async function documentOf(app: App, media: 'json' | 'all'): Promise<Document> {
  return withoutReferences((await call(app, `GET /openapi.json?media=${media}`)).body)
}

/** A document in which references lead to schemas alone: responses, headers, parameters and examples are in place. */
export function withoutReferences(document: OpenAPIV3_1.Document): Document {
  const components = (document.components ?? {}) as Record<string, Record<string, unknown>>
  const resolved = (_key: string, value: unknown): unknown => {
    const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(.+)$/.exec(refOf(value)) ?? []
    if (kind === '' || kind === 'schemas') return value
    return JSON.parse(JSON.stringify(components[kind]?.[name]), resolved)
  }
  return JSON.parse(JSON.stringify(document), resolved)
}

/** The schema that a reference of a document leads to; any other schema itself. */
export function schemaAt(document: Document, schema: unknown): Record<string, unknown> {
  const [, name = ''] = /^#\/components\/schemas\/(.+)$/.exec(refOf(schema)) ?? []
  return (name === '' ? schema : document.components?.schemas?.[name]) as Record<string, unknown>
}

function refOf(value: unknown): string {
  return String((value as { $ref?: string } | null)?.$ref ?? '')
}

export function operationsOf(document: Document) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  )
}

/** What checks values by the schemas of a document. */
export type Validator = ReturnType<typeof validatorOf>

export type Media = { schema?: object; examples?: Record<string, { value: unknown }> }

/** All bodies that an operation takes or answers with. */
export function bodiesOf({ requestBody, responses }: Operation): [where: string, media: Media][] {
  const parts = Object.entries({ request: requestBody, ...responses })
  return parts.flatMap(([where, part]) =>
    Object.entries(part?.content ?? {}).map(([type, media]): [string, Media] => [
      `${where} ${type}`,
      media as Media,
    ]),
  )
}

/**
 * Validates by a document and the standard formats alone, as a gateway does. Whatever the validator complains of
 * in a schema is an error.
 *
 * @param isClosed whether a member that no schema names is wrong, which a gateway does not mind
 */
export function validatorOf(document: Document, isClosed = false) {
  const complain = (...complaints: unknown[]) => {
    throw new Error(complaints.join(' '))
  }
  const ajv = addFormats.default(
    new Ajv2020({
      strict: true,
      allErrors: true,
      validateSchema: true,
      logger: { log: complain, warn: complain, error: complain },
    }),
  )
  // The one keyword of OpenAPI in the schemas; `oneOf` has the rule.
  ajv.addVocabulary(['discriminator'])
  const local = (value: unknown, close = closed) => {
    const schema = JSON.parse(JSON.stringify(value).replaceAll('"#/components/schemas/', '"'))
    return (isClosed ? close(schema) : schema) as AnySchemaObject
  }
  const parts = partsIn(document.components?.schemas)
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    ajv.addSchema(local(schema, parts.has(name) ? closedInside : closed), name)
  }
  // To compile a schema takes longer than to ask it a thousand times.
  const compiled = new WeakMap<object, ValidateFunction>()
  return {
    /** What is wrong with a value; nothing where it is as its schema says. */
    mistakes(schema: object, value: unknown): string[] {
      const validate = compiled.get(schema) ?? ajv.compile(local(schema))
      compiled.set(schema, validate)
      validate(value)
      return (validate.errors ?? []).map(
        ({ instancePath, message, params: { unevaluatedProperty: extra } }) =>
          `${instancePath} ${message}${extra === undefined ? '' : `: ${extra}`}`,
      )
    },
  }
}

/** The names of components that are parts of others, by `allOf`: the whole is closed, not its parts. */
function partsIn(value: unknown, names = new Set<string>()): Set<string> {
  if (value === null || typeof value !== 'object') return names
  const { allOf = [] } = value as { allOf?: { $ref?: string }[] }
  for (const { $ref = '' } of allOf) names.add($ref.replace('#/components/schemas/', ''))
  for (const part of Object.values(value)) partsIn(part, names)
  return names
}

/** A schema that takes no member which it does not name, unless it describes the others. */
function closed(value: unknown): unknown {
  const schema = closedInside(value)
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return schema
  const isOpen = 'additionalProperties' in schema || !('properties' in schema || 'allOf' in schema)
  return isOpen ? schema : { type: 'object', ...schema, unevaluatedProperties: false }
}

function closedInside(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === 'allOf' ? part.map(closedInside) : key === 'properties' ? closedMembers(part) : closed(part),
    ]),
  )
}

/** Members by name, one of which may be called as a keyword. */
function closedMembers(members: object): object {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, closed(member)]))
}
