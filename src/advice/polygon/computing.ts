import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Ask, type Reads, readUntil } from '#src/data/cancellable.ts'
import type { Database } from '#src/data/client.ts'
import type { TileStores } from '#src/data/tiles/stores.ts'
import type { StoredTile } from '#src/data/tiles/tile-queries.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { observeQueue } from '#src/http/metrics/metrics.ts'
import { databaseUnavailable } from '#src/http/plugins/error-handler.ts'
import { type Deadline, startDeadline, tooSlow, withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { type ClientKey, createLimiter } from '#src/lib/limiter.ts'
import { createWait, type Wait } from '#src/lib/time-budget.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { ZonalCoverage } from './queries.ts'

/** Reads tiles of a coverage from its store, which has no tiles without values. */
type ReadTiles = (coverage: ZonalCoverage, tiles: { row: number; column: number }[]) => Promise<StoredTile[]>

export function readingTiles(stores: TileStores, reads: Reads): ReadTiles {
  return ({ id, store }, tiles) => stores[store].read(reads, id, tiles)
}

/** The access of a computation to data and time. */
export interface Computation {
  /** Reads from the database until the deadline, and waits for its turn. */
  ask: Ask
  /** Reads tiles as `ask` reads. */
  readTiles: ReadTiles
  /** Waits for other reads from the database, with the timeout of `ask`. */
  wait: Wait
  /** Lets other requests proceed; rejects after the deadline. */
  pause: Pause
}

/** Computes in turn. @throws {ApiError} OVERLOADED where too many wait, DATABASE_UNAVAILABLE */
type Compute = <Result>(task: (computation: Computation) => Promise<Result>) => Promise<Result>

/** The ways in which a request about a polygon or an area waits. */
export interface Waiting {
  /** Waits for the database, beside the computation. */
  wait: Wait
  /** Waits in the queue for a connection. */
  waitInTurn: Wait
  compute: Compute
}

/** Computations of one caller at the same time; always fewer than all. */
const MOST_RUNNING_EACH = 2

/** Computations of all callers at the same time, in one thread. */
const MOST_RUNNING = 4

/** Computations of all callers in the queue. Each holds its body, of at most a megabyte. */
const WAITING = 100

/** The share of the timeout that a single polygon may wait in the queue. */
const SHARE_OF_WAITING = 0.5

/**
 * Advises on a polygon or an area.
 *
 * @param isOneOfMany whether the request has more polygons. They wait in the queue as long as the client does, since
 *   the answer may have begun
 * @throws {ApiError} QUERY_TIMEOUT after POLYGON_TIMEOUT_MS, for one of many from its turn on
 */
type AdviseWithTimeout = <Advice>(
  request: FastifyRequest,
  reply: FastifyReply,
  advise: (waiting: Waiting) => Promise<Advice>,
  isOneOfMany?: boolean,
) => Promise<Advice>

/** Makes the queue of computations, in which callers take turns. */
export function createComputing(app: App): AdviseWithTimeout {
  const { config, database, metrics, inTurn } = app
  const { POLYGON_TIMEOUT_MS: timeoutMs, DATABASE_POOL_SIZE: connections } = config
  const running = mostRunning(database.kind, connections)
  const queue = createLimiter({ running, runningEach: mostRunningEach(running), waiting: WAITING }, tooMany)
  observeQueue(metrics, 'polygons', queue.state)

  return (request, reply, advise, isOneOfMany = false) => {
    const clientKey = clientKeyOf(request)
    const began = performance.now()
    const deadline = startDeadline(reply, isOneOfMany ? undefined : timeoutMs)
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
    // A statement that cannot be interrupted goes on, and so does its permit.
    return Promise.race([advice, rejectAtAbort(signal)]).finally(end)
  }
}

/** Makes the access of a computation, which ends at its deadline. */
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

/** Half of the connections stay for others. The embedded database has one, which is free between two statements. */
function mostRunning(kind: Database['kind'], connections: number): number {
  return kind === 'embedded' ? 1 : Math.max(1, Math.min(MOST_RUNNING, Math.floor(connections / 2)))
}

/** A caller leaves a permit to others: its polygons may all be slow. */
function mostRunningEach(running: number): number {
  return Math.max(1, Math.min(MOST_RUNNING_EACH, running - 1))
}

function rejectAtAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function tooMany(): ApiError {
  return new ApiError('OVERLOADED', 'Too many polygons are being computed; try again in a second.')
}
