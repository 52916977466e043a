import type { FastifyInstance, FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import fp from 'fastify-plugin'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/data/client.ts'
import { ApiError } from '#src/errors.ts'
import { createFairQueue, type FairQueue, type FairQueueLimits } from '#src/lib/fair-queue.ts'
import type { App } from '../app.ts'
import { deadlineOf } from '../deadline.ts'
import { observeQueue } from '../metrics/metrics.ts'
import { clientKeyOf } from '../request.ts'
import { timeBudgetOf, withTimeout } from './time-budget.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Does work that takes a connection of the database when the turn of the request has come. What is done
     * within must not wait for another turn.
     *
     * @throws {ApiError} OVERLOADED where too many wait, or the turn does not come in time; DATABASE_UNAVAILABLE
     * where the work is not done in time: the place is given back when it is
     */
    inTurn<Result>(request: FastifyRequest, reply: FastifyReply, work: () => Promise<Result>): Promise<Result>
    /**
     * Goes on with an answer that has begun, as `inTurn`: it is not refused however many wait, since what was done for
     * it would be lost.
     *
     * @throws {ApiError} OVERLOADED where the turn does not come in time; DATABASE_UNAVAILABLE as `inTurn`
     */
    goOnInTurn<Result>(
      request: FastifyRequest,
      reply: FastifyReply,
      work: () => Promise<Result>,
    ): Promise<Result>
    /**
     * Notes what has come of a request that has no place at the database any more. It is neither refused nor given
     * up where nobody waits for the answer: what is to be noted has been done.
     */
    noteInTurn(request: FastifyRequest, note: () => Promise<void>): Promise<void>
  }
  interface FastifyRequest {
    /** Gives its place at the database back; null where it has taken none. */
    leaveDatabase: (() => void) | null
  }
  interface FastifyContextConfig {
    /**
     * The handler sees to turns by itself: by `inTurn` for parts of its work, or because all of it is gathered
     * with that of others. Without it, a request takes its turn as a whole.
     */
    ownTurns?: boolean
    /** What it asks the database in its turns only reads, by `database.reader`. */
    onlyReads?: boolean
  }
}

/** Notes are short. Their line needs no end: whatever is noted there has been through others. */
const NOTES: FairQueueLimits = { running: 2, runningEach: 1, waiting: Number.POSITIVE_INFINITY }

/** Answers that go on are as many as have begun: they have a place of their own, and their line needs no end. */
const GOING_ON: FairQueueLimits = { running: 1, runningEach: 1, waiting: Number.POSITIVE_INFINITY }

/**
 * Lets requests take turns where they need connections to the database: those of one caller, and of one
 * network, wait for one another and not others for them. A place is taken once the request is known to be valid,
 * and given back when its answer has been made; whoever goes away while waiting leaves the line.
 *
 * Points have no part in this: they are asked about together, on the connections that are left for them.
 */
export const overload = fp(
  async (app: App) => {
    const places = createFairQueue(limitsOf(app), overloaded)
    const readPlaces = createFairQueue(limitsOf(app), overloaded)
    const notes = createFairQueue(NOTES, overloaded)
    const goingOn = createFairQueue(GOING_ON, overloaded)
    observeQueue(app.metrics, 'requests', places.state)
    const { replica } = app.database
    if (replica) observeQueue(app.metrics, 'reading_requests', readPlaces.state)
    observeQueue(app.metrics, 'answers_going_on', goingOn.state)
    observeQueue(app.metrics, 'idempotency_notes', notes.state)
    app.decorateRequest('leaveDatabase', null)

    /** With a replica, what only reads has connections of its own: it waits for nobody who writes. */
    function placesOf({ routeOptions: { config } }: FastifyRequest): FairQueue {
      return replica && config.onlyReads ? readPlaces : places
    }

    async function enter(
      request: FastifyRequest,
      reply: FastifyReply,
      queue = placesOf(request),
    ): Promise<() => void> {
      const timeBudget = timeBudgetOf(request, reply)
      const { signal, end } = deadlineOf(reply, timeBudget.left(), overloaded)
      return timeBudget.during(() => queue.enter(clientKeyOf(request), signal)).finally(end)
    }

    function inTurnOf(queue?: FairQueue): FastifyInstance['inTurn'] {
      return async (request, reply, work) => {
        const leave = await enter(request, reply, queue)
        return withTimeout(request, reply, () => work().finally(leave))
      }
    }

    app.decorate('inTurn', inTurnOf())

    app.decorate('goOnInTurn', inTurnOf(goingOn))

    app.decorate('noteInTurn', (request, note) => notes.run(clientKeyOf(request), note))

    app.addHook('onRoute', (route) => {
      if (route.config?.ownTurns) return
      const { handler } = route
      route.handler = async function inTurn(request, reply) {
        // Fastify makes the route of HEAD from that of GET, which has this around it already.
        if (request.leaveDatabase) return handler.call(this, request, reply)
        const leave = await enter(request, reply)
        const sending = new Promise<void>((resolve) => {
          request.leaveDatabase = () => {
            leave()
            resolve()
          }
        })
        let isWorking = true
        const work = async () => handler.call(this, request, reply)
        const worked = work().finally(() => {
          isWorking = false
          leave()
        })
        try {
          await withTimeout(request, reply, () => Promise.race([worked, sending]))
        } catch (error) {
          if (isWorking) giveUp(request, reply)
          throw error
        }
        return worked
      }
      route.onSend = [...[route.onSend ?? []].flat(), leaveOnSend]
    })
  },
  { name: 'overload', dependencies: ['authentication'] },
)

/** What a handler that goes on answers is for nobody, and its place is given back when it ends. */
function giveUp(request: FastifyRequest, reply: FastifyReply): void {
  request.leaveDatabase = null
  // Fastify would warn of an answer that comes second.
  reply.log = reply.log.child({}, { level: 'silent' })
}

/** However long a client takes to read its answer. */
function leaveOnSend(
  { leaveDatabase }: FastifyRequest,
  _reply: FastifyReply,
  _body: unknown,
  done: HookHandlerDoneFunction,
): void {
  leaveDatabase?.()
  done()
}

/** Of a server's connections, two of five are left for points, and for looking up who asks. */
const PLACES_A_CONNECTION = 0.6

/** On the one connection of the embedded database, one request works on what it has read while the other reads. */
const EMBEDDED_PLACES = 2

/** One caller has half of the places at most, so that there is one for the next who comes. */
function limitsOf({ config, database }: { config: Config; database: Database }): FairQueueLimits {
  const running =
    database.kind === 'embedded'
      ? EMBEDDED_PLACES
      : Math.max(1, Math.floor(config.DATABASE_POOL_SIZE * PLACES_A_CONNECTION))
  return { running, runningEach: Math.ceil(running / 2), waiting: config.DATABASE_QUEUE_LIMIT }
}

/** What a request is turned away with. */
export function overloaded(): ApiError {
  return new ApiError('OVERLOADED', 'The service is busy; try again in a second.')
}
