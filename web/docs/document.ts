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
  info: { description?: string }
  paths?: Record<string, Record<string, Operation>>
  components: Untyped
}

/** The end of a sentence. */
const SENTENCE = /(?<=[.!?])\s+(?=[A-Z`"])/

/** So much of a description is shown at once. */
const SENTENCES_SHOWN = 2

/**
 * Makes a document short to read: the page shows the beginning of descriptions, and of errors what they say. Nothing else
 * is left out.
 */
export function shortened(document: Document) {
  document.info.description = folded(document.info.description ?? '')
  for (const operation of operationsOf(document)) {
    operation.description = folded(operation.description ?? '')
    // Ids are filled in before an operation is opened, when references are not yet resolved.
    operation.parameters &&= operation.parameters.map((parameter) => referenced(document, parameter))
    for (const [status, answer] of Object.entries(operation.responses ?? {})) {
      if (status < '400' || !operation.responses) continue
      operation.responses[status] = { description: referenced(document, answer).description }
    }
  }
  return document
}

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

function folded(description: string) {
  const [first = '', ...others] = description.split('\n\n')
  const sentences = first.split(SENTENCE)
  const rest = [sentences.slice(SENTENCES_SHOWN).join(' '), ...others].filter(Boolean).join('\n\n')
  const shown = sentences.slice(0, SENTENCES_SHOWN).join(' ')
  return rest === '' ? shown : `${shown}\n\n<details><summary>More</summary>\n\n${rest}\n\n</details>`
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
