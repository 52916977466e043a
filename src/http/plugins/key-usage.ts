import fp from 'fastify-plugin'
import { createToday } from '#src/lib/dates.ts'
import { createPendingCounts } from '#src/lib/pending-counts.ts'
import type { App } from '../app.ts'

/** Of what this process counts, into the database. */
const FLUSH_MS = 10_000

export interface KeyUsage {
  keyId: string
  /** ISO date, UTC. */
  day: string
  requests: number
}

/** Keys and days in memory. Only keys of the database are counted, so there are rarely as many. */
const MOST_COUNTS = 10_000

declare module 'fastify' {
  interface FastifyInstance {
    countKeyRequest(keyId: string): void
    flushKeyUsage(): Promise<void>
  }
}

/** Adds usage to that in the database; key and day are unique. */
export const keyUsage = fp(
  async (app: App, { add: write }: { add: (usage: KeyUsage[]) => Promise<void> }) => {
    const today = createToday()
    const { add, flush } = createPendingCounts<KeyUsage>({
      keyOf: ({ keyId, day }) => `${keyId} ${day}`,
      merge: (sum, { requests }) => {
        sum.requests += requests
      },
      write,
      most: MOST_COUNTS,
    })
    app.decorate('countKeyRequest', (keyId: string) => add({ keyId, day: today(), requests: 1 }))
    app.decorate('flushKeyUsage', flush)
    app.jobs.add(
      'store-key-usage',
      { everyMs: FLUSH_MS, failure: 'requests with keys were not counted; will retry' },
      flush,
      flush,
    )
  },
  { name: 'key-usage', dependencies: ['jobs'] },
)
