import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, overloaded } from '#src/errors.ts'
import { createLimiter, type Limiter, type LimiterLimits } from '#src/lib/limiter.ts'
import type { App } from '../app.ts'
import type { Exchange } from '../exchange.ts'
import { clientKeyOf } from '../exchange.ts'
import { observeQueue } from '../metrics/metrics.ts'
import { startDeadline } from './time-budget.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** See {@link Exchange}. */
    withDatabasePermit<Result>(exchange: Exchange<unknown>, work: () => Promise<Result>): Promise<Result>
    /** The same for the rest of an answer: never refused for the length of the queue. */
    goOnWithPermit<Result>(exchange: Exchange, work: () => Promise<Result>): Promise<Result>
    /** Notes the outcome of a request, in a queue of its own: never refused, also without a client. */
    noteOutcome(request: FastifyRequest, note: () => Promise<void>): Promise<void>
  }
  interface FastifyRequest {
    leaveDatabase: (() => void) | null
  }
  interface FastifyContextConfig {
    /** The handler queues itself, by `withDatabasePermit` or by a batcher. Without it, a request has one permit for all work. */
    takesOwnPermit?: boolean
    /** The work with a permit only reads, by `database.reader`. */
    onlyReads?: boolean
    /** The route limits its callers by itself. */
    ownLimit?: boolean
  }
}

/** Notes are short, and follow work that had a permit. */
const NOTES: LimiterLimits = { running: 2, runningEach: 1, waiting: Number.POSITIVE_INFINITY }

/** As many wait as answers have begun. */
const GOING_ON: LimiterLimits = { running: 1, runningEach: 1, waiting: Number.POSITIVE_INFINITY }

/**
 * Limits the requests at the database, with fair queues of networks and callers. A client that goes leaves the queue.
 * Points need no permit: batchers have connections of their own.
 */
export const overload = fp(
  async (app: App) => {
    const limiter = createLimiter(createLimits(app), overloaded)
    const readLimiter = createLimiter(createLimits(app), overloaded)
    const notes = createLimiter(NOTES, overloaded)
    const goingOn = createLimiter(GOING_ON, overloaded)
    observeQueue(app.metrics, 'requests', limiter.state)
    const { replica } = app.database
    if (replica) observeQueue(app.metrics, 'reading_requests', readLimiter.state)
    observeQueue(app.metrics, 'answers_going_on', goingOn.state)
    observeQueue(app.metrics, 'idempotency_notes', notes.state)
    app.decorateRequest('leaveDatabase', null)
    app.decorateRequest('sender', null)

    async function enter({ reply, deadline, clientKey }: Exchange<unknown>, queue?: Limiter) {
      // Reads have connections of their own at a replica.
      const isRead = replica && reply.request.routeOptions.config.onlyReads
      const limited = queue ?? (isRead ? readLimiter : limiter)
      const { signal, abort, end } = startDeadline(reply)
      return deadline
        .outlast(
          () => limited.enter(clientKey, signal),
          () => abort(overloaded()),
        )
        .finally(end)
    }

    function withPermitOf(queue?: Limiter): FastifyInstance['withDatabasePermit'] {
      return async (exchange, work) => {
        const release = await enter(exchange, queue)
        return exchange.wait(() => work().finally(release))
      }
    }

    app.decorate('withDatabasePermit', withPermitOf())
    app.decorate('goOnWithPermit', withPermitOf(goingOn))
    app.decorate('noteOutcome', (request, note) => notes.run(clientKeyOf(request), note))

    app.addHook('onRoute', (route) => {
      if (route.config?.takesOwnPermit) return
      const { handler } = route
      route.handler = async function withPermit(request, reply) {
        // Fastify makes the route of HEAD from that of GET, with this handler.
        if (request.leaveDatabase) return handler.call(this, request, reply)
        const release = await enter(request.exchange)
        const sending = new Promise<void>((resolve) => {
          request.leaveDatabase = () => {
            release()
            resolve()
          }
        })
        let isWorking = true
        const work = async () => handler.call(this, request, reply)
        const worked = work().finally(() => {
          isWorking = false
          release()
        })
        try {
          await request.exchange.wait(() => Promise.race([worked, sending]))
        } catch (error) {
          if (isWorking) giveUp(request.exchange)
          throw error
        }
        return worked
      }
      route.onSend = [...[route.onSend ?? []].flat(), releaseOnSend]
    })
  },
  { name: 'overload', dependencies: ['authentication'] },
)

/** The late handler holds its permit to its end; its answer has no client. */
function giveUp({ request, reply }: Exchange): void {
  request.leaveDatabase = null
  // Fastify would warn of a second answer.
  reply.log = reply.log.child({}, { level: 'silent' })
}

/** A slow client holds no permit. */
const releaseOnSend: onSendHookHandler = ({ leaveDatabase }, _reply, _body, done) => {
  leaveDatabase?.()
  done()
}

/** Two of five connections of a server are for points and callers. */
const PERMITS_A_CONNECTION = 0.6

/** On the one connection of the embedded database, one request computes while the other reads. */
const EMBEDDED_PERMITS = 2

/** One caller has half of the permits at most. */
function createLimits({ config, database }: App): LimiterLimits {
  const running =
    database.kind === 'embedded'
      ? EMBEDDED_PERMITS
      : Math.max(1, Math.floor(config.DATABASE_POOL_SIZE * PERMITS_A_CONNECTION))
  return { running, runningEach: Math.ceil(running / 2), waiting: config.DATABASE_QUEUE_LIMIT }
}

/** A few megabytes; the least recent callers are evicted. */
const COUNTED_CALLERS = 20_000

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
