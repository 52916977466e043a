import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Ask, askUntil } from '#src/database/cancellable.ts'
import type { Database } from '#src/database/client.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { deadlineOf } from '#src/http/deadline.ts'
import { observeQueue } from '#src/http/metrics/observe.ts'
import { partyOf } from '#src/http/party.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import { databaseUnavailable } from '#src/http/refusals.ts'
import { createFairQueue } from '#src/lib/fair-queue.ts'
import { createWait, type Wait } from '#src/lib/patience.ts'
import type { Pause } from '#src/lib/turns.ts'

/** What a computation works with. */
export interface Computation {
  /** Reads from the database until the computation is to end; what is read waits for its turn to be used. */
  ask: Ask
  /** Waits for what else is asked of the database. The computation is to end where that takes too long, as in `ask`. */
  wait: Wait
  /** Lets others go on; rejects with the reason once the computation is to end. */
  pause: Pause
}

/**
 * Does a computation for a request when its turn comes.
 *
 * @throws {ApiError} OVERLOADED where that takes too long or too many wait, DATABASE_UNAVAILABLE where the
 *   database does not answer
 */
export type Compute = <Result>(task: (computation: Computation) => Promise<Result>) => Promise<Result>

/** How a request about a polygon or an area waits. */
export interface Waiting {
  /** For the database, beside the computation. */
  wait: Wait
  /** The same, for what takes a connection: when the turn of the request comes. */
  waitInTurn: Wait
  compute: Compute
}

/** Computations of one caller at the same time. */
const RUNNING_EACH = 2

/** Computations at the same time, of all callers: one thread has them all. */
const MOST_RUNNING = 4

/** Computations that wait, of all callers. Each holds its body, of a megabyte at most. */
const WAITING = 100

/** What of the time for a polygon may go by until its turn comes. */
const SHARE_OF_WAITING = 0.5

/**
 * Advises on a polygon or an area, by what it is given to wait with.
 *
 * @throws {ApiError} QUERY_TIMEOUT where that takes longer than POLYGON_TIMEOUT_MS, whatever it waits for
 */
export type AdviseInTime = <Advice>(
  request: FastifyRequest,
  reply: FastifyReply,
  advise: (waiting: Waiting) => Promise<Advice>,
) => Promise<Advice>

/** Makes what requests about polygons and areas go through: callers take turns to compute. */
export function createComputing({ config, database, turns, metrics, inTurn }: App): AdviseInTime {
  const { POLYGON_TIMEOUT_MS: timeoutMs, STATEMENT_TIMEOUT_MS, DATABASE_POOL_SIZE: connections } = config
  const queue = createFairQueue(
    { running: mostRunning(database.kind, connections), runningEach: RUNNING_EACH, waiting: WAITING },
    tooMany,
  )
  observeQueue(metrics, 'polygons', queue.state)

  return (request, reply, advise) => {
    const party = partyOf(request)
    const began = performance.now()
    const { signal, abort, end } = deadlineOf(reply, timeoutMs)

    function computationInTime(): Computation {
      const read = askUntil(database, signal)
      const wait = createWait(STATEMENT_TIMEOUT_MS, () => abort(databaseUnavailable()))
      const pause = () => turns.next(party, signal)
      const ask: Ask = async (query) => {
        const rows = await wait(() => read(query))
        await pause()
        return rows
      }
      return { ask, wait, pause }
    }

    const compute: Compute = (task) => {
      const passed = performance.now() - began
      const patience = deadlineOf(reply, timeoutMs * SHARE_OF_WAITING - passed, tooMany)
      const begin = async () => {
        patience.end()
        const computation = computationInTime()
        await computation.pause()
        return task(computation)
      }
      return queue.run(party, begin, patience.signal).finally(patience.end)
    }

    const advice = advise({
      wait: (something) => inTime(request, reply, something),
      waitInTurn: (something) => inTurn(request, reply, something),
      compute,
    })
    // A statement that cannot be interrupted goes on, and its place is taken for as long.
    return Promise.race([advice, reasonOf(signal)]).finally(end)
  }
}

/**
 * So many that half of the connections stay for points and all others: a computation uses one at a time. The
 * embedded database has one in all, which is free between two statements.
 */
function mostRunning(kind: Database['kind'], connections: number): number {
  return kind === 'embedded' ? 1 : Math.max(1, Math.min(MOST_RUNNING, Math.floor(connections / 2)))
}

/** Rejects with the reason of a signal once that is aborted. */
function reasonOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function tooMany(): ApiError {
  return new ApiError('OVERLOADED', 'Too many polygons are being computed; try again in a second.')
}
