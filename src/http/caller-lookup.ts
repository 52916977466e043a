import type { FastifyReply, FastifyRequest } from 'fastify'
import { createFairQueue } from '#src/lib/fair-queue.ts'
import type { App } from './app.ts'
import { createCallerCache } from './caller-cache.ts'
import { deadlineOf } from './deadline.ts'
import { observeQueue } from './metrics/observe.ts'
import { partyOf } from './party.ts'
import { overloaded } from './plugins/overload.ts'
import { inTime, patienceOf, SHARE_OF_EXTRAS } from './plugins/patience.ts'

/** For so long an ended session may still be taken for a living one, by another process. */
const CACHE_MS = 5000

/** So many callers are looked up at a time: each takes a fraction of a millisecond. */
const LOOKUPS = { embedded: 1, server: 2 }

/** What tokens stand for. */
export interface CallerLookup<Caller> {
  /** Whom a token stands for, where that is remembered. */
  known(token: string): Caller | undefined
  /**
   * What is public is answered as to anybody where this fails, for which it leaves some time.
   *
   * @throws {ApiError} OVERLOADED where too many wait, DATABASE_UNAVAILABLE where it takes too long; else what `ask`
   * throws
   */
  find(token: string, request: FastifyRequest, reply: FastifyReply): Promise<Caller | undefined>
  /** Forgets the callers that meet a condition, so that this process asks anew. */
  forget(condition: (caller: Caller) => boolean): void
}

/**
 * Remembers callers for a while, and asks for the others. Anybody can make up tokens by the thousand, and each has
 * to be asked about: they take turns.
 *
 * @param ask whom a token stands for, and for how many milliseconds at most; undefined where for nobody
 */
export function createCallerLookup<Caller>(
  { config, database, metrics }: App,
  ask: (token: string) => Promise<{ caller: Caller; lifetimeMs: number } | undefined>,
): CallerLookup<Caller> {
  const cache = createCallerCache<Caller>()
  const limits = { running: LOOKUPS[database.kind], waiting: config.DATABASE_QUEUE_LIMIT }
  const lookups = createFairQueue(limits, overloaded)
  let hits = 0
  let misses = 0
  observeQueue(metrics, 'callers', lookups.state)
  metrics.observe('agro_caller_cache_entries', cache.size)
  metrics.observe('agro_caller_cache_hits_total', () => hits)
  metrics.observe('agro_caller_cache_misses_total', () => misses)

  async function askAndRemember(token: string): Promise<Caller | undefined> {
    const asked = performance.now()
    const found = await ask(token)
    if (found) cache.set(token, found.caller, asked, Math.min(CACHE_MS, found.lifetimeMs))
    return found?.caller
  }

  function known(token: string): Caller | undefined {
    const caller = cache.get(token)
    if (caller) hits++
    return caller
  }

  return {
    known,
    async find(token, request, reply) {
      const caller = known(token)
      if (caller) return caller
      misses++
      const deadline = deadlineOf(reply, patienceOf(request, reply).left(), overloaded)
      const answered = new AbortController()
      const signal = AbortSignal.any([deadline.signal, answered.signal])
      // Another request with the same token may have asked meanwhile.
      const find = async () => cache.get(token) ?? askAndRemember(token)
      const found = () => lookups.run(partyOf(request), find, signal)
      try {
        return await inTime(request, reply, found, SHARE_OF_EXTRAS)
      } catch (error) {
        // Who is answered without it leaves the line.
        answered.abort(error)
        throw error
      } finally {
        deadline.end()
      }
    },
    forget: cache.forget,
  }
}
