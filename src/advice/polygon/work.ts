import { readUntil } from '#src/data/cancellable.ts'
import type { Reads } from '#src/data/database.ts'
import { ApiError, databaseUnavailable } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { createBudget, type Exchange } from '#src/http/exchange.ts'
import { observeQueue } from '#src/http/metrics/metrics.ts'
import { createPause, type Deadline, startDeadline, tooSlow } from '#src/http/plugins/time-budget.ts'
import { type ClientKey, createLimiter, type Limiter, type Pause, sharedWork } from '#src/lib/limiter.ts'
import { createDeadline, type Wait } from '#src/lib/time-budget.ts'
import { type Computation, readTiles } from './tiles.ts'

/** How a question about regions waits and computes: of a request, or in the background. */
export interface Work {
  /** Waits for the database, beside the computation. */
  wait: Wait
  /** Waits for a connection to the database, too. The queue may refuse a request. */
  waitForPermit: Wait
  /** @throws {ApiError} QUERY_TIMEOUT; OVERLOADED where too many wait in the queue; DATABASE_UNAVAILABLE */
  compute<Result>(task: Task<Result>): Promise<Result>
}

type Task<Result> = (computation: Computation) => Promise<Result>

/** Work at many regions: each computation has a deadline of its own. */
export interface LongWork extends Work {
  /** Waits with a permit for an answer that has begun: each piece has the time of a request. */
  goOnWithPermit: Wait
  /** Writes beside the work. */
  note(write: () => Promise<void>): Promise<void>
  pause: Pause
}

/** Computations of one caller at the same time; always fewer than all. */
const MOST_RUNNING_EACH = 2

/** Computations of all callers at the same time, in one thread. */
const MOST_RUNNING = 4

/** Computations of all callers in the queue. Each holds its body, of at most a megabyte. */
const WAITING = 100

/** The share of the timeout that a single polygon may wait in the queue. */
const SHARE_OF_WAITING = 0.5

/** The queue of computations of requests, which is fair to callers. */
export class ComputingQueue {
  readonly #app: App
  readonly #limiter: Limiter
  #requests = 0

  constructor(app: App) {
    this.#app = app
    const { config, database, metrics } = app
    // Half of the connections stay for others. The embedded database has one, which is free between two statements.
    const most = database.kind === 'embedded' ? 1 : Math.floor(config.DATABASE_POOL_SIZE / 2)
    const running = Math.max(1, Math.min(MOST_RUNNING, most))
    // A caller leaves a permit to others: its polygons may all be slow.
    const runningEach = Math.max(1, Math.min(MOST_RUNNING_EACH, running - 1))
    this.#limiter = createLimiter({ running, runningEach, waiting: WAITING }, tooMany)
    observeQueue(metrics, 'polygons', this.#limiter.state)
  }

  /** Whether any request asks for polygons or areas at this moment. */
  get isBusy(): boolean {
    return this.#requests > 0
  }

  /**
   * Does the work of a request at one region, which has one deadline for all of its waits.
   *
   * @throws {ApiError} QUERY_TIMEOUT after POLYGON_TIMEOUT_MS, OVERLOADED after a share of it in the queue
   */
  untilTimeout<Found>(exchange: Exchange, answer: (work: Work) => Promise<Found>): Promise<Found> {
    const timeoutMs = this.#app.config.POLYGON_TIMEOUT_MS
    const began = performance.now()
    const passed = () => performance.now() - began
    return this.#untilAbort(startDeadline(exchange.reply, timeoutMs), (deadline) =>
      answer({
        wait: (step) => exchange.wait(step),
        waitForPermit: (step) => exchange.withDatabasePermit(step),
        compute: (task) => {
          deadline.setDue(timeoutMs * SHARE_OF_WAITING - passed(), tooMany)
          return this.#compute(exchange, deadline, passed, task)
        },
      }),
    )
  }

  /**
   * The work of a request at many regions. Each waits in the queue as long as the client does, since the answer may have
   * begun; POLYGON_TIMEOUT_MS begins with its computation.
   */
  workOf(exchange: Exchange): LongWork {
    const { app, reply } = exchange
    return {
      wait: (step) => exchange.wait(step),
      waitForPermit: (step) => exchange.withDatabasePermit(step),
      goOnWithPermit(step) {
        exchange.renewDeadline()
        return app.goOnWithPermit(exchange, step)
      },
      note: (write) => app.noteOutcome(reply.request, write),
      pause: createPause(exchange),
      compute: (task) =>
        this.#untilAbort(startDeadline(reply), (deadline) =>
          this.#compute(exchange, deadline, () => 0, task),
        ),
    }
  }

  /** @param passed milliseconds of the timeout that are over */
  #compute<Result>(
    { clientKey }: Exchange,
    deadline: Deadline,
    passed: () => number,
    task: Task<Result>,
  ): Promise<Result> {
    const timeoutMs = this.#app.config.POLYGON_TIMEOUT_MS
    const begin = async () => {
      deadline.setDue(timeoutMs - passed(), () => tooSlow(timeoutMs))
      const computation = computationUntil(this.#app, clientKey, deadline)
      await computation.pause()
      return task(computation)
    }
    return this.#limiter.run(clientKey, begin, deadline.signal)
  }

  /** A statement that cannot be interrupted goes on after the deadline, and so does its permit. */
  #untilAbort<Found>(deadline: Deadline, work: (deadline: Deadline) => Promise<Found>): Promise<Found> {
    this.#requests++
    return Promise.race([work(deadline), rejectAtAbort(deadline.signal)]).finally(() => {
      deadline.end()
      this.#requests--
    })
  }
}

/** A computation in the background may take longer than one of a request. */
const BACKGROUND_MS = 60_000

/**
 * Work without a request, and outside of the queue: a computation has a minute.
 *
 * @param name whose computations share slices with the clients
 * @param closing ends the work with its reason
 */
export function createBackgroundWork(app: App, name: string, closing: AbortSignal): LongWork {
  const clientKey = sharedWork(name)
  const wait: Wait = (step) => step()
  return {
    wait,
    waitForPermit: wait,
    goOnWithPermit: wait,
    note: (write) => write(),
    pause: () => app.slices.next(clientKey, closing),
    compute(task) {
      const deadline = createDeadline(closing)
      deadline.setDue(BACKGROUND_MS, () => tooSlow(BACKGROUND_MS))
      return task(computationUntil(app, clientKey, deadline)).finally(deadline.end)
    },
  }
}

/** Makes the access of a computation, which ends at its deadline. */
export function computationUntil(
  app: App,
  clientKey: ClientKey,
  { signal, abort }: Pick<Deadline, 'signal' | 'abort'>,
): Computation {
  const { database, tiles, slices } = app
  const read = readUntil(database, signal)
  const wait: Wait = (step) => createBudget(app).outlast(step, () => abort(databaseUnavailable()))
  const pause = () => slices.next(clientKey, signal)
  async function waitAndPause<Rows>(reading: () => Promise<Rows>): Promise<Rows> {
    const rows = await wait(reading)
    await pause()
    return rows
  }
  const reads: Reads = {
    ask: (query) => waitAndPause(() => read.ask(query)),
    copy: (query) => waitAndPause(() => read.copy(query)),
    signal,
  }
  return {
    ask: reads.ask,
    readTiles: (coverage, addresses) => readTiles(tiles, reads, coverage, addresses),
    wait,
    pause,
  }
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
