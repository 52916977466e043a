import type { Scope } from '#schemas/keys.ts'
import type { Role } from '#schemas/user.ts'
import type { ApiError } from '#src/errors.ts'
import { overloaded } from '#src/errors.ts'
import { Cache } from '#src/lib/cache.ts'
import { createLimiter } from '#src/lib/limiter.ts'
import type { App } from '../app.ts'
import { type Exchange, SHARE_OF_EXTRAS } from '../exchange.ts'
import { observeQueue } from '../metrics/metrics.ts'
import { createClientSignal } from './time-budget.ts'

export interface Caller {
  id: string
  /** It may be less than the role of the account; a key needs a scope for it. */
  role: Role
  /** What refuses the rights of admins to an admin, for a step of the login that is lacking. */
  refuseAdmin?: () => ApiError
  sessionId: string | null
  /** Null for a session. */
  keyId: string | null
  /** Of a key; a session has all rights of its user. */
  scopes: readonly Scope[]
}

/** Undefined where the session, the key or the user has ended. */
export interface Accounts {
  callerOfSession(sessionId: string, userId: string): Promise<Caller | undefined>
  callerOfKey(key: string): Promise<Caller | undefined>
  /** Whether the password was given within the last ten minutes. */
  isFresh(sessionId: string): Promise<boolean | undefined>
}

/** Each cached token takes less than a kilobyte. */
const CACHED_TOKENS = 10_000

/** For as long another process may accept an ended session. */
const CACHE_MS = 5000

/** Look-ups of callers at a time: each takes a fraction of a millisecond. */
const LOOKUPS = { embedded: 1, server: 2 }

type FoundCaller = { caller: Caller; lifetimeMs: number } | undefined

/** Callers by token, from a cache or the database. Clients can make up many tokens, so look-ups have a fair queue. */
export function createCallers(
  { config, database, metrics }: App,
  load: (token: string) => Promise<FoundCaller>,
) {
  const cache = new Cache<string, FoundCaller>('callers', {
    max: CACHED_TOKENS,
    ttlMs: (found) => Math.min(CACHE_MS, found?.lifetimeMs ?? 0),
  })
  const limits = { running: LOOKUPS[database.kind], waiting: config.DATABASE_QUEUE_LIMIT }
  const lookups = createLimiter(limits, overloaded)
  observeQueue(metrics, 'callers', lookups.state)
  metrics.observe('agro_caller_cache_entries', () => cache.statistics().entries)
  metrics.observe('agro_caller_cache_hits_total', () => cache.statistics().hits)
  metrics.observe('agro_caller_cache_misses_total', () => cache.statistics().misses)

  const cached = (token: string) => cache.get(token)?.caller

  return {
    cached,
    /** A late look-up leaves time for public answers, which need no caller. */
    async find(token: string, exchange: Exchange): Promise<Caller | undefined> {
      const caller = cached(token)
      if (caller) return caller
      const read = async () => (await cache.load(token, () => load(token)))?.caller
      // A request that is answered leaves the queue.
      const queued = () => lookups.run(exchange.clientKey, read, createClientSignal(exchange.reply))
      return exchange.wait(queued, SHARE_OF_EXTRAS)
    },
    forget: (condition: (caller: Caller) => boolean) =>
      cache.deleteWhere((found) => found !== undefined && condition(found.caller)),
  }
}
