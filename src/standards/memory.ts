import { LRUCache } from 'lru-cache'

/** Bytes of all parts together; entries leave when the space is needed. */
const MEMORY_BYTES = 96 * 2 ** 20

/** Bytes of an entry beside its content, about. */
const ENTRY_OVERHEAD = 200

export type Memory = ReturnType<typeof createMemory>

/** The one cache of the standards, in parts by kinds of entries. */
export function createMemory() {
  const entries = new LRUCache<string, object | string>({ maxSize: MEMORY_BYTES })
  return {
    part<Value extends object | string>(name: string) {
      const pending = new Map<string, Promise<Value>>()
      const get = (key: string) => entries.get(`${name} ${key}`) as Value | undefined
      /** @param bytes the most that the entry may come to take */
      const set = (key: string, value: Value, bytes: number) => {
        entries.set(`${name} ${key}`, value, { size: ENTRY_OVERHEAD + key.length + Math.ceil(bytes) })
      }
      /** Makes a missing entry once for all who ask meanwhile. A failing maker fails for its own caller alone. */
      async function load(key: string, make: () => Promise<Value>, bytesOf: (value: Value) => number) {
        const found = get(key) ?? (await pending.get(key)?.catch(() => undefined))
        if (found !== undefined) return found
        const making = make().finally(() => pending.delete(key))
        pending.set(key, making)
        const made = await making
        set(key, made, bytesOf(made))
        return made
      }
      return { get, set, load, delete: (key: string) => void entries.delete(`${name} ${key}`) }
    },
  }
}
