import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenAPIV3_1 } from 'openapi-types'
import type { App } from '#src/http/app.ts'

export type Operation = Omit<OpenAPIV3_1.OperationObject, 'parameters' | 'requestBody' | 'responses'> & {
  parameters?: OpenAPIV3_1.ParameterObject[]
  requestBody?: OpenAPIV3_1.RequestBodyObject
  responses: Record<string, OpenAPIV3_1.ResponseObject>
}

export type Document = Omit<OpenAPIV3_1.Document, 'paths'> & {
  paths: Record<string, Record<string, Operation>>
}

/** The document of a service: the one for generators, or that with all media types. */
export async function documentOf(app: App, media: 'json' | 'all'): Promise<Document> {
  return (await app.inject(`/openapi.json?media=${media}`)).json()
}

export function operationsOf(document: Document) {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
  )
}

/** The parameters of an operation, those that the document has as components among them. */
export function parametersOf({ components }: Document, { parameters = [] }: Operation) {
  return parameters.map((parameter) => {
    const { $ref } = parameter as { $ref?: string }
    const name = $ref?.split('/').at(-1)
    return (name ? components?.parameters?.[name] : parameter) as OpenAPIV3_1.ParameterObject
  })
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
 */
export function validatorOf(document: Document) {
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
  const local = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('"#/components/schemas/', '"')) as AnySchemaObject
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    ajv.addSchema(local(schema), name)
  }
  // To compile a schema takes longer than to ask it a thousand times.
  const compiled = new WeakMap<object, ValidateFunction>()
  return {
    /** What is wrong with a value; nothing where it is as its schema says. */
    mistakes(schema: object, value: unknown): string[] {
      const validate = compiled.get(schema) ?? ajv.compile(local(schema))
      compiled.set(schema, validate)
      validate(value)
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
    },
  }
}
