import rateLimit from '@fastify/rate-limit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import type { App } from '../app.ts'
import { clientKeyOf } from '../exchange.ts'

/** A few megabytes; the least recent callers are evicted. */
const COUNTED_CALLERS = 20_000

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route limits its callers by itself. */
    ownLimit?: boolean
  }
}

const SECONDS = { s: 1, min: 60, h: 3600 }

const POLICY = '"caller"'

/** Limits the requests of each user, or without a token of each network. Unauthorized requests are not counted. */
export const limitedRate = fp(
  async (app: App) => {
    await app.register(rateLimit, { global: false, cache: COUNTED_CALLERS })
    const { RATE_LIMIT } = app.config
    if (RATE_LIMIT === undefined) return
    const [number, unit] = RATE_LIMIT.split('/') as [string, keyof typeof SECONDS]
    const [requests, seconds] = [Number(number), SECONDS[unit]]
    const count = app.createRateLimit({
      max: requests,
      timeWindow: seconds * 1000,
      keyGenerator: (request) => clientKeyOf(request).caller,
    })

    async function limit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      if (app.warmingUp) return
      const found = await count(request)
      // There is no list of exceptions.
      if (found.isAllowed) return
      const { remaining, ttlInSeconds, isExceeded } = found
      // draft-ietf-httpapi-ratelimit-headers
      reply.header('ratelimit-policy', `${POLICY};q=${requests};w=${seconds}`)
      reply.header('ratelimit', `${POLICY};r=${remaining};t=${ttlInSeconds}`)
      if (isExceeded) throw limited(requests, seconds, ttlInSeconds)
    }

    app.addHook('onRoute', (route) => {
      if (route.config?.ownLimit) return
      // Fastify makes the route of HEAD from that of GET, with this hook.
      const hooks = [route.onRequest ?? []].flat().filter((hook) => hook !== limit)
      route.onRequest = [...hooks, limit]
    })
  },
  { name: 'limited-rate', dependencies: ['authentication', 'warm-up-requests'] },
)

function limited(requests: number, seconds: number, left: number): ApiError {
  return new ApiError(
    'RATE_LIMITED',
    `There may be ${requests} requests in ${seconds} s; try again in ${left} s.`,
  ).withHeader('retry-after', String(left))
}
