/** Writes the types of the TypeScript client from openapi.yaml; with --check, fails where files differ from that. */
import { readFile, writeFile } from 'node:fs/promises'
import { register } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OpenAPIV3_1 } from 'openapi-types'
import { parse } from 'yaml'

const DOCUMENT = new URL('../openapi.yaml', import.meta.url)
const CLIENT = fileURLToPath(new URL('../clients/typescript', import.meta.url))

const HEAD = '// Written by `npm run gen` from openapi.yaml: change the routes, not this.\n\n'

/** Tags that repeat the type beside them, and a note of the generator. */
const SAYS_NOTHING = /^@(enum|constant)\b|discriminator enum property/

/** Of lines that hold several members, as in biome.json. */
const WIDTH = 110

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

const sources = {
  'src/schema.ts': `${HEAD}${withSharedParameters(folded(withoutUnused(withShortComments(withoutEmpty(astToString(nodes))))))}`,
  'src/idempotent-posts.ts': `${HEAD}/** The paths whose POST takes an \`Idempotency-Key\`. */
export const IDEMPOTENT_POSTS: readonly string[] = ${JSON.stringify(idempotent, null, 2)};
`,
}

const isCheck = process.argv.includes('--check')
for (const [name, text] of Object.entries(sources)) await keep(name, text)

/** Writes a file of the client, or says that it is another one. */
async function keep(name: string, text: string): Promise<void> {
  const path = join(CLIENT, name)
  if (!isCheck) return writeFile(path, text)
  if ((await readFile(path, 'utf8').catch(() => '')) === text) return
  console.error(`clients/typescript/${name} is not what openapi.yaml says: run \`npm run gen\`.`)
  process.exitCode = 1
}

function operationsOf({ paths }: OpenAPIV3_1.Document): [string, string, Operation][] {
  return Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item ?? {})
      .filter(([, operation]) => typeof operation === 'object' && 'responses' in operation)
      .map(([method, operation]): [string, string, Operation] => [method, path, operation as Operation]),
  )
}

/**
 * The document without the parts that types do not show: examples, headers of answers, long descriptions of
 * operations, and the errors of single statuses, which all have the schema of the `default`.
 */
function shortened(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  for (const [, , operation] of operationsOf(document)) {
    delete operation.description
    for (const status of Object.keys(operation.responses)) {
      if (Number(status) >= 400) delete operation.responses[status]
    }
  }
  const { schemas, parameters, responses = {} } = document.components ?? {}
  const { AnyError, NotModified } = responses
  const components = { schemas, parameters, responses: { AnyError, NotModified } }
  return JSON.parse(JSON.stringify({ ...document, components }), withoutExamples)
}

/** Leaves out examples and headers; for `JSON.parse`. A property of the API with such a name stays. */
function withoutExamples(key: string, value: unknown): unknown {
  if (key === 'properties' || value === null || typeof value !== 'object' || Array.isArray(value))
    return value
  const { example: _, examples: _some, headers: _named, ...rest } = value as Record<string, unknown>
  return rest
}

/**
 * The types without the members that every path and operation has, and none uses. Parameters have their comments in
 * `components`, where operations refer to.
 */
function withoutUnused(types: string): string {
  const [head = '', operations = ''] = types.split(/(?=^export interface operations )/m)
  return head + operations.replace(/^ +\/\*\*.*\n/gm, '').replace(/^ +requestBody\?: never;\n/gm, '')
}

function withoutEmpty(types: string): string {
  return types
    .replace(/^ +(get|put|post|delete|options|head|patch|trace|query|header|path|cookie)\?: never;\n/gm, '')
    .replace(/^ +(headers|parameters): \{\n( +\[name: string\]: unknown;\n)? +\};\n/gm, '')
}

/** Comments of several lines as one line. */
function withShortComments(types: string): string {
  return types.replace(/^( *)\/\*\*\n((?: *\* .*\n)+) *\*\/\n/gm, (_, indent: string, comment: string) => {
    const lines = comment.split('\n').map((line) => line.replace(/^ *\* ?/, ''))
    const said = lines.filter((line) => line !== '' && !SAYS_NOTHING.test(line))
    return said.length > 0 ? `${indent}/** ${said.join(' ')} */\n` : ''
  })
}

/** The types in the indentation of the house, with objects on one line where they fit. */
function folded(types: string): string {
  const lines: string[] = []
  const opened: number[] = []
  for (const line of types.replace(/^(?: {4})+/gm, (indent) => ' '.repeat(indent.length / 2)).split('\n')) {
    lines.push(line)
    if (line.endsWith('{')) opened.push(lines.length - 1)
    if (!/^ *\}/.test(line)) continue
    const [first = '', ...rest] = lines.slice(opened.pop())
    const text = [first, ...rest.map((one) => one.trim())].join(' ')
    if (text.length <= WIDTH && first.startsWith(' ')) lines.splice(-1 - rest.length, rest.length + 1, text)
  }
  return lines.join('\n')
}

/** The types in which operations with the same parameters name those of the first. */
function withSharedParameters(types: string): string {
  const known = new Map<string, string>()
  let operation = ''
  return types.replace(
    /^ {2}(\w+): \{$|^ {4}parameters: (\{\n[\s\S]*?\n {4}\});$/gm,
    (text, name?: string, parameters = '') => {
      if (name) operation = name
      const first = known.get(parameters)
      if (!name && first) return `    parameters: operations["${first}"]["parameters"];`
      if (!name) known.set(parameters, operation)
      return text
    },
  )
}
