/** So many tokens are cached; each takes less than a kilobyte. */
const CACHED_TOKENS = 10_000

/** What a token stands for, asked of the database at most once in a while. */
export interface CallerCache<Caller> {
  get(token: string): Caller | undefined
  /** Caches a caller, from the moment at which the database was asked (`performance.now()`). */
  set(token: string, caller: Caller, asked: number, lifetimeMs: number): void
  /** Forgets the callers that meet a condition, so that this process refuses them at once. */
  forget(condition: (caller: Caller) => boolean): void
  size(): number
}

/** Makes a cache whose entries go when their time is over, or when there are too many: the oldest first. */
export function createCallerCache<Caller>(): CallerCache<Caller> {
  const entries = new Map<string, { caller: Caller; until: number }>()
  let forgottenAt = Number.NEGATIVE_INFINITY
  return {
    get(token) {
      const entry = entries.get(token)
      if (!entry) return undefined
      if (performance.now() < entry.until) return entry.caller
      entries.delete(token)
      return undefined
    },
    set(token, caller, asked, lifetimeMs) {
      // What was asked before somebody was to be forgotten may be about them.
      if (asked <= forgottenAt) return
      entries.delete(token)
      if (entries.size >= CACHED_TOKENS) entries.delete(entries.keys().next().value as string)
      entries.set(token, { caller, until: asked + lifetimeMs })
    },
    forget(condition) {
      forgottenAt = performance.now()
      for (const [token, { caller }] of entries) if (condition(caller)) entries.delete(token)
    },
    size: () => entries.size,
  }
}
