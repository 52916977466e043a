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

/**
 * Makes a reader of paths of a document, with the targets of references in their place. Like Swagger UI's own, it notes
 * each reference in `$$ref`, and leaves alone those that lead back to where they are. Swagger UI reads the whole document
 * anew for each operation that is opened, which takes seconds.
 *
 * @param address of the document, which the notes begin with
 * @returns null where nothing stands at the path
 */
export function createResolver(document: Untyped, address: string): (path: string[]) => unknown {
  const resolved = new Map()

  function resolve(value: Untyped, above: string[]): Untyped {
    if (value === null || typeof value !== 'object') return value
    if (Array.isArray(value)) return value.map((item) => resolve(item, above))
    const { $ref, ...beside } = value
    if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return resolveMembers(value, above)
    if (above.includes($ref)) return value
    const named = resolved.get($ref) ?? { ...resolve(at($ref), [...above, $ref]), $$ref: address + $ref }
    // A value below others may have left a reference to one of them alone.
    if (above.length === 0) resolved.set($ref, named)
    return { ...named, ...resolveMembers(beside, above) }
  }

  function resolveMembers(value: Untyped, above: string[]): Untyped {
    const entries = Object.entries(value).map(([name, member]) => [name, resolve(member, above)])
    const { allOf, ...whole } = Object.fromEntries(entries)
    return Array.isArray(allOf) ? [...allOf, whole].reduce(merged, {}) : Object.fromEntries(entries)
  }

  /** Parts of a schema as one, without the notes of where they come from. */
  function merged(one: Untyped, other: Untyped): Untyped {
    const whole = { ...one }
    for (const [name, value] of Object.entries<Untyped>(other)) {
      const before = whole[name]
      if (name === '$$ref') continue
      if (Array.isArray(before) && Array.isArray(value)) whole[name] = [...before, ...value]
      else if (before instanceof Object && value instanceof Object) whole[name] = merged(before, value)
      else whole[name] = value
    }
    return whole
  }

  function at(reference: string) {
    const names = reference.slice(2).split('/')
    return find(names.map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')))
  }

  const find = (path: string[]) => path.reduce((value: Untyped, name) => value?.[name], document) ?? null

  return (path) => resolve(find(path), [])
}
