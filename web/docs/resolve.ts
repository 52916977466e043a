// Puts what references name in their place. Swagger UI does it too, but reads the whole document anew for each operation
// that is opened, which takes seconds.

/**
 * What stands at a path of a document, with what its references name in their place. Like Swagger UI's own, it notes
 * each reference in `$$ref`, and leaves alone those that lead back to where they are.
 *
 * @param {any} document
 * @param {string} address of the document, which the notes begin with
 * @returns {(path: string[]) => unknown} null where nothing stands at the path
 */
export function createResolver(document, address) {
  const resolved = new Map()

  /**
   * @param {any} value
   * @param {string[]} above
   * @returns {any}
   */
  function resolve(value, above) {
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

  /**
   * @param {any} value
   * @param {string[]} above
   * @returns {any}
   */
  function resolveMembers(value, above) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, resolve(member, above)]))
  }

  /** @param {string} reference */
  function at(reference) {
    const names = reference.slice(2).split('/')
    return find(names.map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')))
  }

  const find = (/** @type {string[]} */ path) =>
    path.reduce((/** @type {any} */ value, name) => value?.[name], document) ?? null

  return (path) => resolve(find(path), [])
}
