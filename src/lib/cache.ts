import { setTimeout } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'

/** A cache has `max` or `maxSize`; the entry of the earliest use is evicted first. */
interface CacheLimits<Key, Value> {
  /** Entries. */
  max?: number
  /** Sum of `sizeOf`; a larger entry is not stored. */
  maxSize?: number
  /** At least 1. */
  sizeOf?: (value: Value, key: Key) => number
  /** Time to live, counted from the begin of a load; 0: each load is anew. */
  ttlMs?: number | ((value: Value) => number)
  onRemoved?: (value: Value, key: Key) => void
}

interface Load<Value> {
  begunAt: number
  value?: Promise<Value>
}

/**
 * Least recently used, with a time to live, and one load for concurrent misses.
 * An undefined value and a failed load are not stored.
 */
export class Cache<Key extends string | number, Value> {
  readonly #entries: LRUCache<Key, NonNullable<Value>>
  readonly #limits: CacheLimits<Key, Value>
  readonly #name: string
  readonly #loads = new Map<Key, Load<Value>>()
  #hits = 0
  #misses = 0

  /** @param name label of its metrics; caches of one name are summed */
  constructor(name: string, limits: CacheLimits<Key, Value>) {
    const { max, maxSize, sizeOf, onRemoved } = limits
    this.#name = name
    this.#limits = limits
    this.#entries = new LRUCache<Key, NonNullable<Value>>({
      ...(max !== undefined && { max }),
      ...(maxSize !== undefined && { maxSize }),
      ...(sizeOf && { sizeCalculation: sizeOf }),
      ...(onRemoved && { dispose: onRemoved }),
      ttlResolution: 0,
      // A load may use the last value.
      noDeleteOnStaleGet: true,
      // Its types want one of the limits, and no null.
    } as LRUCache.Options<Key, NonNullable<Value>, unknown>)
    caches.add(new WeakRef(this))
  }

  statistics(): CacheStatistics {
    return { name: this.#name, hits: this.#hits, misses: this.#misses, entries: this.#entries.size }
  }

  /** Sum of `sizeOf`. */
  get size(): number {
    return this.#entries.calculatedSize
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.#hits++
    return value
  }

  /** Reads without a count and without a use. */
  peek(key: Key): Value | undefined {
    return this.#entries.peek(key)
  }

  /**
   * Stores a value; a load that is under way is not stored.
   *
   * @param begunAt begin of the load, on the clock of `performance.now()`
   */
  set(key: Key, value: Value, begunAt?: number): void {
    this.#misses++
    this.#loads.delete(key)
    this.#store(key, value, begunAt)
  }

  #store(key: Key, value: Value, begunAt?: number): void {
    const { ttlMs } = this.#limits
    if (ttlMs === undefined || value === undefined) {
      this.#entries.set(key, value as NonNullable<Value>)
      return
    }
    const ttl = typeof ttlMs === 'function' ? ttlMs(value) : ttlMs
    // 0 would be no limit to lru-cache.
    this.#entries.set(key, value as NonNullable<Value>, {
      ttl: Math.max(ttl, Number.MIN_VALUE),
      ...(begunAt !== undefined && { start: begunAt }),
    })
  }

  getOrCreate(key: Key, create: () => Value): Value {
    const stored = this.get(key)
    if (stored !== undefined) return stored
    const value = create()
    this.set(key, value)
    return value
  }

  /**
   * Gives the stored value, or that of one load for all callers meanwhile.
   *
   * @param load receives the value whose time to live is over
   */
  load(key: Key, load: (last: Value | undefined) => Promise<Value>): Promise<Value> {
    const stored = this.get(key)
    if (stored !== undefined) return Promise.resolve(stored)
    const begunAt = performance.now()
    const pending = this.#loads.get(key)
    if (pending?.value && begunAt - pending.begunAt < this.#sharedForMs()) {
      this.#hits++
      return pending.value
    }
    const begun: Load<Value> = { begunAt }
    this.#misses++
    this.#loads.set(key, begun)
    begun.value = this.#run(key, load, begun)
    return begun.value
  }

  /** A load that is under way is not stored. */
  delete(key: Key): void {
    this.#loads.delete(key)
    this.#entries.delete(key)
  }

  /** Removes the entries that meet a condition; no load that is under way is stored. */
  deleteWhere(condition: (value: Value) => boolean): void {
    this.#loads.clear()
    for (const [key, value] of [...this.#entries.entries()]) if (condition(value)) this.#entries.delete(key)
  }

  clear(): void {
    this.#loads.clear()
    this.#entries.clear()
  }

  /** The value is stored unless another load or a removal came meanwhile. */
  async #run(
    key: Key,
    load: (last: Value | undefined) => Promise<Value>,
    begun: Load<Value>,
  ): Promise<Value> {
    try {
      const value = await load(this.#entries.peek(key, { allowStale: true }))
      if (this.#loads.get(key) === begun) this.#store(key, value, begun.begunAt)
      return value
    } finally {
      if (this.#loads.get(key) === begun) this.#loads.delete(key)
    }
  }

  #sharedForMs(): number {
    const { ttlMs } = this.#limits
    return typeof ttlMs === 'number' ? ttlMs : Number.POSITIVE_INFINITY
  }
}

/** A cache of one value; without a time to live the first load is the last. */
export function cacheValue<Value>(
  name: string,
  load: (last: Value | undefined) => Promise<Value>,
  ttlMs?: number,
): () => Promise<Value> {
  const cache = new Cache<string, Value>(name, { max: 1, ...(ttlMs !== undefined && { ttlMs }) })
  return () => cache.load('', load)
}

/** A document waits this long for a silent database. */
const SILENCE_MS = 1000

interface LastValueOptions<Value> {
  load: () => Promise<Value>
  /** Served until the first load succeeds. */
  initial: () => Value | Promise<Value>
  ttlMs: number
  warn: (error: unknown) => void
}

/** A cache of one value of the database: while that fails or is silent, the last value is served. */
export function cacheLastValue<Value>(name: string, options: LastValueOptions<Value>): () => Promise<Value> {
  const { load, initial, ttlMs, warn } = options
  const loadOrLast = async (last: Value | undefined) => {
    try {
      return await Promise.race([load(), rejectLate()])
    } catch (error) {
      warn(error)
      return last ?? initial()
    }
  }
  return cacheValue<Value>(name, loadOrLast, ttlMs)
}

async function rejectLate(): Promise<never> {
  await setTimeout(SILENCE_MS, undefined, { ref: false })
  throw new Error(`the database has not answered within ${SILENCE_MS} ms`)
}

interface CacheStatistics {
  name: string
  hits: number
  /** Loads, and values that were set. */
  misses: number
  entries: number
}

const caches = new Set<WeakRef<{ statistics(): CacheStatistics }>>()

/** Sums up the caches of this process by name. */
export function readCacheStatistics(): CacheStatistics[] {
  const sums = new Map<string, CacheStatistics>()
  for (const reference of caches) {
    const cache = reference.deref()
    if (!cache) {
      caches.delete(reference)
      continue
    }
    const { name, hits, misses, entries } = cache.statistics()
    const sum = sums.get(name) ?? { name, hits: 0, misses: 0, entries: 0 }
    sums.set(name, {
      name,
      hits: sum.hits + hits,
      misses: sum.misses + misses,
      entries: sum.entries + entries,
    })
  }
  return [...sums.values()]
}
