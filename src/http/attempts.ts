import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './app.ts'
import { databaseError, databaseUnavailable } from './plugins/error-handler.ts'
import { SHARE_OF_EXTRAS, withTimeout } from './plugins/time-budget.ts'

/** Has done later what could not be done when its time was. */
interface Retries {
  /** Tries something in a while, and again until it is done or too late; false where too much waits already. */
  add(task: () => Promise<void>): boolean
  /** Tries what waits once more, up to the first that fails again, and nothing after that. */
  close(): Promise<void>
}

interface RetryLimits {
  /** After so long something is tried again. */
  everyMs: number
  /** For so long it is worth it. */
  forMs: number
  /** So many wait at most. */
  waiting: number
}

interface Waiting {
  task: () => Promise<void>
  until: number
}

/**
 * Makes what tries things again, one after the other: while nothing can be done, one attempt in a while is made for
 * all of them.
 *
 * @param isWorthIt whether what has failed so may be done later
 * @param sorry is told why something is given up
 */
export function createRetries(
  { everyMs, forMs, waiting: most }: RetryLimits,
  isWorthIt: (error: unknown) => boolean,
  sorry: (error: unknown) => void,
): Retries {
  const waiting: Waiting[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function trySoon(): void {
    if (!closed) timer ??= setTimeout(() => void tryAll(), everyMs).unref()
  }

  async function tryAll(): Promise<void> {
    for (let next = closed ? undefined : waiting.shift(); next; next = closed ? undefined : waiting.shift()) {
      try {
        await next.task()
      } catch (error) {
        if (!isWorthIt(error) || performance.now() >= next.until) {
          sorry(error)
          continue
        }
        // Behind the others: it may be the only one that fails.
        waiting.push(next)
        break
      }
    }
    timer = undefined
    if (waiting.length > 0) trySoon()
  }

  return {
    add(task) {
      if (closed || waiting.length >= most) return false
      waiting.push({ task, until: performance.now() + forMs })
      trySoon()
      return true
    },
    async close() {
      closed = true
      clearTimeout(timer)
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        try {
          await next.task()
        } catch (error) {
          sorry(error)
          if (isWorthIt(error)) break
        }
      }
    },
  }
}

/** One of the attempts at a request: see `createIdempotencyRecords`, which keeps them. */
export interface Attempt {
  /** Of the request, the same whenever it is sent again. */
  id: Buffer
  attempt: string
}

/** Where it is kept what was answered to requests with an Idempotency-Key. */
export interface IdempotencyRecords {
  /**
   * Begins a request.
   *
   * @param userId whose it is; null where it makes the account
   * @returns `running` while another attempt has it, and its sealed answer once that has one
   */
  begin(attempt: Attempt, userId: string | null): Promise<'begun' | 'running' | Buffer>
  /** Stores the answer, which belongs to a user, if there is one. */
  store(attempt: Attempt, userId: string | null, answer: Buffer): Promise<void>
  /** Gives a request up that has done nothing. */
  abandon(attempt: Attempt): Promise<void>
  deleteExpired(): Promise<void>
}

/** What could not be noted is noted later, until the attempt counts as dead anyway. */
const LATE_NOTES = { everyMs: 1000, forMs: 60_000, waiting: 1000 }

/** Those who send the request again are told for a while that it is being worked on. */
const NOT_NOTED = 'an attempt at a request could not be noted'

/** Makes what begins attempts, and notes what has come of them. */
export function createAttempts(app: App, records: IdempotencyRecords) {
  const again = createRetries(
    LATE_NOTES,
    (error) => databaseError(error) !== undefined,
    (error) => app.logFailure(error, NOT_NOTED),
  )

  /** Waits for a note as long as an answer may for what it can do without: it is noted all the same. */
  async function note(
    request: FastifyRequest,
    reply: FastifyReply,
    work: () => Promise<void>,
  ): Promise<void> {
    const noted = turnsOf(request, reply)
      .note(work)
      .catch((error) => {
        app.logFailure(error, NOT_NOTED, request.log)
        if (databaseError(error)) again.add(work)
      })
    await withTimeout(request, reply, () => noted, SHARE_OF_EXTRAS).catch(() => {})
  }

  /** @throws {ApiError} DATABASE_UNAVAILABLE where the client has been answered that meanwhile */
  async function begin(
    request: FastifyRequest,
    reply: FastifyReply,
    attempt: Attempt,
    userId: string | null,
  ): Promise<'begun' | 'running' | Buffer> {
    const abandon = () => records.abandon(attempt)
    let isAsked = false
    const ask = () => {
      isAsked = true
      return records.begin(attempt, userId)
    }
    const found = await turnsOf(request, reply)
      .begin(ask)
      .catch((error) => {
        // Where no answer has come, it may have begun.
        if (isAsked && databaseError(error)) again.add(abandon)
        throw error
      })
    if (found !== 'begun' || !reply.raw.headersSent) return found
    await note(request, reply, abandon)
    throw databaseUnavailable()
  }

  return { begin, note, close: again.close }
}

/** The turns in which a request is noted: where it has a place at the database for all of its work, those are its. */
function turnsOf(request: FastifyRequest, reply: FastifyReply) {
  const { server, routeOptions } = request
  if (!routeOptions.config.ownTurns) {
    return {
      begin: <Found>(work: () => Promise<Found>) => work(),
      note: (work: () => Promise<void>) => work(),
    }
  }
  return {
    begin: <Found>(work: () => Promise<Found>) => server.inTurn(request, reply, work),
    note: (work: () => Promise<void>) => server.noteInTurn(request, work),
  }
}
