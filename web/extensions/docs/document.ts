/** Parts of the document, and of Swagger UI, which has no types. */
// biome-ignore lint/suspicious/noExplicitAny: every part would need a check that tests of the page make.
export type Untyped = any

interface Operation {
  operationId: string
  description?: string
  parameters?: Untyped[]
  responses?: Record<string, Untyped>
  requestBody?: Untyped
}

export interface Document {
  paths?: Record<string, Record<string, Operation>>
  components: Untyped
}

/** What forms need of a document: bodies, parameters, and the media types of answers. The page has the texts. */
export function shortened(document: Document) {
  for (const operation of operationsOf(document)) {
    delete operation.description
    // Ids are filled in before an operation is opened, when references are not yet resolved.
    operation.parameters &&= operation.parameters.map((parameter) => referenced(document, parameter))
    const answers = Object.entries(operation.responses ?? {}).filter(([status]) => status < '400')
    operation.responses = Object.fromEntries(
      answers.map(([status, answer]) => {
        const types = Object.keys(referenced(document, answer).content ?? {})
        return [status, { description: '', content: Object.fromEntries(types.map((type) => [type, {}])) }]
      }),
    )
  }
  const { securitySchemes } = document.components
  return { ...document, components: { ...componentsOf(document), securitySchemes } }
}

/** The components that a document uses. */
function componentsOf(document: Document) {
  const used: Untyped = {}
  const open: unknown[] = [document.paths]
  while (open.length > 0) {
    for (const [, kind = '', name = ''] of JSON.stringify(open.pop()).matchAll(REFERENCE)) {
      used[kind] ??= {}
      if (name in used[kind]) continue
      used[kind][name] = document.components[kind]?.[name]
      open.push(used[kind][name] ?? null)
    }
  }
  return used
}

const REFERENCE = /"#\/components\/(\w+)\/([^"]+)"/g

export function operationsOf({ paths = {} }: Document) {
  return Object.values(paths).flatMap((methods) => Object.values(methods))
}

/**
 * The target of a reference of a document.
 *
 * @param value which may be one
 */
function referenced(document: Document, value: Untyped) {
  if (typeof value?.$ref !== 'string') return value
  const names = value.$ref.slice(2).split('/')
  return names.reduce((found: Untyped, name: string) => found?.[name], document)
}
