import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import { overloaded } from '#src/errors.ts'
import { createLimiter, type Limiter, type LimiterLimits } from '#src/lib/limiter.ts'
import type { App } from '../app.ts'
import type { Exchange } from '../exchange.ts'
import { clientKeyOf } from '../exchange.ts'
import { observeQueue } from '../metrics/metrics.ts'
import { startDeadline } from './time-budget.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** See {@link Exchange}. */
    withDatabasePermit<Result>(exchange: Exchange, work: () => Promise<Result>): Promise<Result>
    /** The same for the rest of an answer: never refused for the length of the queue. */
    goOnWithPermit<Result>(exchange: Exchange, work: () => Promise<Result>): Promise<Result>
    /** Notes the outcome of a request without a permit: never refused, also without a client. */
    noteWithPermit(request: FastifyRequest, note: () => Promise<void>): Promise<void>
  }
  interface FastifyRequest {
    leaveDatabase: (() => void) | null
  }
  interface FastifyContextConfig {
    /** The handler queues itself, by `withDatabasePermit` or by a batcher. Without it, a request has one permit for all work. */
    takesOwnPermit?: boolean
    /** The work with a permit only reads, by `database.reader`. */
    onlyReads?: boolean
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

    async function enter({ request, reply, deadline, clientKey }: Exchange, queue?: Limiter) {
      // Reads have connections of their own at a replica.
      const isRead = replica && request.routeOptions.config.onlyReads
      const limited = queue ?? (isRead ? readLimiter : limiter)
      const { signal, end } = startDeadline(reply, deadline.left(), overloaded)
      return deadline.during(() => limited.enter(clientKey, signal)).finally(end)
    }

    function withPermitOf(queue?: Limiter): FastifyInstance['withDatabasePermit'] {
      return async (exchange, work) => {
        const release = await enter(exchange, queue)
        return exchange.wait(() => work().finally(release))
      }
    }

    app.decorate('withDatabasePermit', withPermitOf())
    app.decorate('goOnWithPermit', withPermitOf(goingOn))
    app.decorate('noteWithPermit', (request, note) => notes.run(clientKeyOf(request), note))

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
function releaseOnSend(
  { leaveDatabase }: FastifyRequest,
  _reply: FastifyReply,
  _body: unknown,
  done: HookHandlerDoneFunction,
): void {
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
