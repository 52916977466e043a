import fp from 'fastify-plugin'
import { DAY_MS, dayOf } from '#src/lib/dates.ts'
import type { App } from '../app.ts'

/** How many requests came with a key on a day. */
export interface KeyUsage {
  keyId: string
  /** ISO date, UTC. */
  day: string
  requests: number
}

/** Adds usage to what is kept; each key and day comes once. */
export type AddKeyUsage = (usage: KeyUsage[]) => Promise<void>

/** Counts in memory how often keys are used, until the counts are written. */
interface KeyUsageCounter {
  count(keyId: string): void
  /**
   * Adds what has been counted to what is kept; where that fails, it waits for the next time.
   *
   * @throws what `add` throws
   */
  flush(): Promise<void>
}

/** So many keys and days are counted at a time. Each was known to the database, so there are rarely as many. */
const COUNTED = 10_000

function createKeyUsageCounter(add: AddKeyUsage): KeyUsageCounter {
  let waiting = new Map<string, KeyUsage>()
  let writing: Promise<void> = Promise.resolve()
  /** Its name is remembered: to write it takes ten times as long as to count. */
  let today = { number: Number.NaN, name: '' }

  function nameOfToday(): string {
    const now = Date.now()
    const number = Math.floor(now / DAY_MS)
    if (number !== today.number) today = { number, name: dayOf(now) }
    return today.name
  }

  function merge(keyId: string, day: string, requests: number): void {
    const name = `${keyId} ${day}`
    const present = waiting.get(name)
    if (present) present.requests += requests
    else if (waiting.size < COUNTED) waiting.set(name, { keyId, day, requests })
  }

  async function write(): Promise<void> {
    if (waiting.size === 0) return
    const usage = [...waiting.values()]
    waiting = new Map()
    try {
      await add(usage)
    } catch (error) {
      // Whether it was written may be unknown: then it counts twice rather than never.
      for (const { keyId, day, requests } of usage) merge(keyId, day, requests)
      throw error
    }
  }

  return {
    count: (keyId) => merge(keyId, nameOfToday(), 1),
    flush() {
      writing = writing.catch(() => {}).then(write)
      return writing
    },
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a request that came with a key. */
    countKeyRequest(keyId: string): void
    /** Adds what has been counted of keys in this process to what is kept. */
    flushKeyUsage(): Promise<void>
  }
}

/** Counts how often keys are used, for their owners. Whoever comes without one passes by none of it. */
export const keyUsage = fp(
  async (app: App, { add }: { add: AddKeyUsage }) => {
    const { count, flush } = createKeyUsageCounter(add)
    app.decorate('countKeyRequest', count)
    app.decorate('flushKeyUsage', flush)
    app.jobs.add('store-key-usage', flush, flush)
  },
  { name: 'key-usage', dependencies: ['jobs'] },
)
