/**
 * Writes the types of the TypeScript client from openapi.yaml; with --check, fails where the file differs from it.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { register } from 'node:module'
import type { OpenAPIV3_1 } from 'openapi-types'
import { parse } from 'yaml'

const DOCUMENT = new URL('../openapi.yaml', import.meta.url)
const FILE = new URL('../clients/typescript/src/schema.ts', import.meta.url)

const HEAD = '// Written by `npm run gen` from openapi.yaml: change the routes, not this.\n\n'

const ERROR = '#/components/schemas/Error'

type Response = OpenAPIV3_1.ResponseObject
type Operation = OpenAPIV3_1.OperationObject & { responses: Record<string, Response> }

// openapi-typescript prints with the API that TypeScript had until version 6: it gets a copy of that.
register(
  `data:text/javascript,${encodeURIComponent(`
  export const resolve = (specifier, context, next) =>
    next(specifier === 'typescript' ? '@ts-morph/common/dist/typescript.js' : specifier, context)
`)}`,
)

const document = shortened(parse(await readFile(DOCUMENT, 'utf8')))
const idempotent = operationsOf(document).flatMap(([method, path, { parameters = [] }]) =>
  method === 'post' && JSON.stringify(parameters).includes('IdempotencyKey') ? path : [],
)
const { astToString, default: openapiTypeScript } = await import('openapi-typescript')
const nodes = await openapiTypeScript(JSON.stringify(document), { silent: true })
const types = `${HEAD}${astToString(nodes)}
/** The paths whose POST takes an \`Idempotency-Key\`. */
export const IDEMPOTENT_POSTS: readonly string[] = ${JSON.stringify(idempotent, null, 2)};
`

if (process.argv.includes('--check')) {
  if ((await readFile(FILE, 'utf8').catch(() => '')) !== types) {
    console.error('clients/typescript/src/schema.ts is not what openapi.yaml says: run `npm run gen`.')
    process.exitCode = 1
  }
} else {
  await writeFile(FILE, types)
}

function operationsOf({ paths }: OpenAPIV3_1.Document): [string, string, Operation][] {
  return Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item ?? {})
      .filter(([, operation]) => typeof operation === 'object' && 'responses' in operation)
      .map(([method, operation]): [string, string, Operation] => [method, path, operation as Operation]),
  )
}

/**
 * The document without what types say nothing of, which is four fifths of them: examples, headers of answers, the
 * long description of operations. All errors have one schema, so one answer stands for those of an operation.
 *
 * @throws where an error has another one
 */
function shortened(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  for (const [method, path, operation] of operationsOf(document)) {
    delete operation.description
    const { responses } = operation
    for (const [status, response] of Object.entries(responses)) {
      delete response.headers
      for (const media of Object.values(response.content ?? {})) {
        delete media.example
        delete media.examples
      }
      if (Number(status) < 400) continue
      const { schema } = response.content?.['application/json'] ?? {}
      if (JSON.stringify(schema) !== JSON.stringify({ $ref: ERROR })) {
        throw new Error(`${method} ${path} answers ${status} with a schema of its own.`)
      }
      delete responses[status]
      responses.default = {
        description: 'An error.',
        content: { 'application/json': { schema: { $ref: ERROR } } },
      }
    }
  }
  return document
}
