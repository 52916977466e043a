import { LRUCache } from 'lru-cache'

/** Bytes of all parts together; entries leave when the space is needed. */
const MEMORY_BYTES = 96 * 2 ** 20

/** Bytes of an entry beside its content, about. */
const ENTRY_OVERHEAD = 200

/** Entries of one kind. */
export interface MemoryPart<Value extends object | string> {
  get(key: string): Value | undefined
  /** @param bytes the most that the entry may come to take */
  set(key: string, value: Value, bytes: number): void
  /** Makes an entry that is missing, once for all who ask meanwhile. A maker that fails fails for its own caller alone. */
  load(key: string, make: () => Promise<Value>, bytesOf: (value: Value) => number): Promise<Value>
  delete(key: string): void
}

/** The one cache of the standards. */
export interface Memory {
  part<Value extends object | string>(name: string): MemoryPart<Value>
}

export function createMemory(): Memory {
  const entries = new LRUCache<string, object | string>({ maxSize: MEMORY_BYTES })
  return {
    part<Value extends object | string>(name: string): MemoryPart<Value> {
      const pending = new Map<string, Promise<Value>>()
      const get = (key: string) => entries.get(`${name} ${key}`) as Value | undefined
      const set = (key: string, value: Value, bytes: number) => {
        entries.set(`${name} ${key}`, value, { size: ENTRY_OVERHEAD + key.length + Math.ceil(bytes) })
      }
      return {
        get,
        set,
        async load(key, make, bytesOf) {
          const found = get(key) ?? (await pending.get(key)?.catch(() => undefined))
          if (found !== undefined) return found
          const making = make().finally(() => pending.delete(key))
          pending.set(key, making)
          const made = await making
          set(key, made, bytesOf(made))
          return made
        },
        delete: (key) => void entries.delete(`${name} ${key}`),
      }
    },
  }
}
