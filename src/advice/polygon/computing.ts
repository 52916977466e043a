import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Ask, type Reads, readUntil } from '#src/data/cancellable.ts'
import type { Database } from '#src/data/client.ts'
import type { TileStores } from '#src/data/tiles/stores.ts'
import type { StoredTile } from '#src/data/tiles/tile-queries.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { type Deadline, deadlineOf, tooSlow } from '#src/http/deadline.ts'
import { observeQueue } from '#src/http/metrics/metrics.ts'
import { databaseUnavailable } from '#src/http/plugins/error-handler.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { type ClientKey, createFairQueue } from '#src/lib/fair-queue.ts'
import { createWait, type Wait } from '#src/lib/time-budget.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { ZonalCoverage } from './zonal-queries.ts'

/** Reads tiles of a coverage from where they are; those without any value are not there. */
type ReadTiles = (coverage: ZonalCoverage, tiles: { row: number; column: number }[]) => Promise<StoredTile[]>

export function readingTiles(stores: TileStores, reads: Reads): ReadTiles {
  return ({ id, store }, tiles) => stores[store].read(reads, id, tiles)
}

/** What a computation works with. */
export interface Computation {
  /** Reads from the database until the computation is to end; what is read waits for its turn to be used. */
  ask: Ask
  /** Reads tiles of a coverage as `ask` reads; those without any value are not there. */
  readTiles: ReadTiles
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
type Compute = <Result>(task: (computation: Computation) => Promise<Result>) => Promise<Result>

/** How a request about a polygon or an area waits. */
export interface Waiting {
  /** For the database, beside the computation. */
  wait: Wait
  /** The same, for what takes a connection: when the turn of the request comes. */
  waitInTurn: Wait
  compute: Compute
}

/** Computations of one caller at the same time, and fewer where that would be all there may be. */
const MOST_RUNNING_EACH = 2

/** Computations at the same time, of all callers: one thread has them all. */
const MOST_RUNNING = 4

/** Computations that wait, of all callers. Each holds its body, of a megabyte at most. */
const WAITING = 100

/** What of the time for a polygon may go by until its turn comes, where it is asked about alone. */
const SHARE_OF_WAITING = 0.5

/**
 * Advises on a polygon or an area, by what it is given to wait with.
 *
 * @param isOneOfMany whether the request is about more. Its polygons wait for their turns as long as its client does:
 *   its answer may have begun, and callers with slow polygons would spoil it
 * @throws {ApiError} QUERY_TIMEOUT where that takes longer than POLYGON_TIMEOUT_MS, whatever it waits for; from its
 *   turn on where it is one of many
 */
export type AdviseWithTimeout = <Advice>(
  request: FastifyRequest,
  reply: FastifyReply,
  advise: (waiting: Waiting) => Promise<Advice>,
  isOneOfMany?: boolean,
) => Promise<Advice>

/** Makes what requests about polygons and areas go through: callers take turns to compute. */
export function createComputing(app: App): AdviseWithTimeout {
  const { config, database, metrics, inTurn } = app
  const { POLYGON_TIMEOUT_MS: timeoutMs, DATABASE_POOL_SIZE: connections } = config
  const running = mostRunning(database.kind, connections)
  const queue = createFairQueue({ running, runningEach: mostRunningEach(running), waiting: WAITING }, tooMany)
  observeQueue(metrics, 'polygons', queue.state)

  return (request, reply, advise, isOneOfMany = false) => {
    const clientKey = clientKeyOf(request)
    const began = performance.now()
    const deadline = deadlineOf(reply, isOneOfMany ? undefined : timeoutMs)
    const { signal, setDue, end } = deadline

    const compute: Compute = (task) => {
      const passed = () => (isOneOfMany ? 0 : performance.now() - began)
      if (!isOneOfMany) setDue(timeoutMs * SHARE_OF_WAITING - passed(), tooMany)
      const begin = async () => {
        setDue(timeoutMs - passed(), () => tooSlow(timeoutMs))
        const computation = computationUntil(app, clientKey, deadline)
        await computation.pause()
        return task(computation)
      }
      return queue.run(clientKey, begin, signal)
    }

    const advice = advise({
      wait: (something) => withTimeout(request, reply, something),
      waitInTurn: (something) => inTurn(request, reply, something),
      compute,
    })
    // A statement that cannot be interrupted goes on, and its place is taken for as long.
    return Promise.race([advice, reasonOf(signal)]).finally(end)
  }
}

/** What a computation for a request works with, which goes on until its deadline. */
export function computationUntil(
  { config, database, tiles, turns }: App,
  clientKey: ClientKey,
  { signal, abort }: Deadline,
): Computation {
  const read = readUntil(database, signal)
  const wait = createWait(config.STATEMENT_TIMEOUT_MS, () => abort(databaseUnavailable()))
  const pause = () => turns.next(clientKey, signal)
  async function withTimeout<Rows>(reading: () => Promise<Rows>): Promise<Rows> {
    const rows = await wait(reading)
    await pause()
    return rows
  }
  const reads: Reads = {
    ask: (query) => withTimeout(() => read.ask(query)),
    copy: (query) => withTimeout(() => read.copy(query)),
    signal,
  }
  return { ask: reads.ask, readTiles: readingTiles(tiles, reads), wait, pause }
}

/**
 * So many that half of the connections stay for points and all others: a computation uses one at a time. The
 * embedded database has one in all, which is free between two statements.
 */
function mostRunning(kind: Database['kind'], connections: number): number {
  return kind === 'embedded' ? 1 : Math.max(1, Math.min(MOST_RUNNING, Math.floor(connections / 2)))
}

/** A caller leaves a place to others where there are several: their polygons may take all of their time. */
function mostRunningEach(running: number): number {
  return Math.max(1, Math.min(MOST_RUNNING_EACH, running - 1))
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
