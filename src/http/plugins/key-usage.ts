import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import { type AddKeyUsage, createKeyUsageCounter } from '../key-usage.ts'
import { flushRegularly } from '../regular-flush.ts'

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
    flushRegularly(app, flush, 'requests with keys could not be counted yet')
  },
  { name: 'key-usage' },
)
