/** By this function a module tells PostgreSQL which version it is made for. */
const MAGIC = 'Pg_magic_func'

/**
 * Makes `Object.keys` list only once what a module of PostgreSQL exports. PGlite (0.5.8) lists it for each function that it
 * looks up, and PostGIS exports thousands: `create extension postgis` looks up 1,200.
 *
 * For a thread in which nothing but the database runs.
 */
export function listExportsOnce(): void {
  const { keys } = Object
  const lists = new WeakMap<object, string[]>()
  Object.keys = (of: object) => {
    if (!Object.hasOwn(of, MAGIC)) return keys(of)
    const list = lists.get(of) ?? keys(of)
    lists.set(of, list)
    return list
  }
}
