// Puts what references name in their place. Swagger UI does it too, but reads the whole document anew for each operation
// that is opened, which takes seconds.

/** Parts of the document, and of Swagger UI, which has no types. */
// biome-ignore lint/suspicious/noExplicitAny: every part would need a check that tests of the page make.
export type Untyped = any

/**
 * What stands at a path of a document, with what its references name in their place. Like Swagger UI's own, it notes
 * each reference in `$$ref`, and leaves alone those that lead back to where they are.
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
    // What is below others may have left a reference to one of them alone.
    if (above.length === 0) resolved.set($ref, named)
    return { ...named, ...resolveMembers(beside, above) }
  }

  function resolveMembers(value: Untyped, above: string[]): Untyped {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member, above)]))
  }

  function at(reference: string) {
    const names = reference.slice(2).split('/')
    return find(names.map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')))
  }

  const find = (path: string[]) => path.reduce((value: Untyped, name) => value?.[name], document) ?? null

  return (path) => resolve(find(path), [])
}
