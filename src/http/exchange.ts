import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type ApiError, databaseUnavailable } from '#src/errors.ts'
import type { ClientKey } from '#src/lib/limiter.ts'
import { networkOf, siteOf } from '#src/lib/network.ts'
import { TimeBudget } from '#src/lib/time-budget.ts'
import type { App } from './app.ts'

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange<this>
    /** The hash of the sender of a text message; null for other requests. */
    sender: string | null
  }
}

/** Makes the exchange of each request, before any other hook. */
export const exchanges = fp(
  async (app: App) => {
    app.decorateRequest('exchange', null as never)
    app.addHook('onRequest', (request, reply, done) => {
      request.exchange = new Exchange(request, reply)
      done()
    })
  },
  { name: 'exchange' },
)

/** The network is the largest one of a subscriber, so that many are no advantage; the smallest one stands for no user. */
export function clientKeyOf({ ip, user, sender }: FastifyRequest): ClientKey {
  return { network: siteOf(ip), caller: user?.id ?? sender ?? networkOf(ip) }
}

/** The time for the database of a request, or of a step of one: it is over sooner while the embedded one is away. */
export const createBudget = ({ config, database }: App): TimeBudget =>
  new TimeBudget(config.STATEMENT_TIMEOUT_MS, database.standsStill)

/** Share of the time left for optional parts of an answer. */
export const SHARE_OF_EXTRAS = 0.8

/**
 * A request with its reply: what functions below a handler need of both.
 *
 * Its deadline bounds the time that it waits for the database: STATEMENT_TIMEOUT_MS for its caller, its permit, a connection
 * and the answers, and less while the embedded one is away. Other waits (body, password hashes) do not count. Answers from memory need none.
 */
export class Exchange<Request = FastifyRequest> {
  readonly request: Request
  readonly reply: FastifyReply
  /** Undefined until the first wait for the database. */
  #budget: TimeBudget | undefined
  /** Answers the client at the deadline, while the work goes on; undefined where the work is not awaited then. */
  #answerLate: ((error: ApiError) => void) | undefined

  constructor(request: Request, reply: FastifyReply) {
    this.request = request
    this.reply = reply
  }

  get app(): App {
    return this.reply.server
  }

  /** Whom queues count the request to: its caller and its network. */
  get clientKey(): ClientKey {
    return clientKeyOf(this.reply.request)
  }

  /** The budget begins anew while the answer is being sent, since the client sees progress. */
  get deadline(): TimeBudget {
    if (this.reply.raw.headersSent) this.renewDeadline()
    this.#budget ??= createBudget(this.app)
    return this.#budget
  }

  /** Begins the budget anew, for a request that makes progress: its body goes on arriving, or its fields are read in pages. */
  renewDeadline(): void {
    this.#budget = undefined
  }

  /**
   * Waits for work at the database until the deadline. Late work goes on; within `toTheEnd` only the client gets the
   * error of the deadline.
   *
   * @param share of the time left, for an optional part of the answer: late ones are always given up
   * @throws {ApiError} DATABASE_UNAVAILABLE at the deadline
   */
  wait<Result>(work: () => Promise<Result>, share?: number): Promise<Result> {
    const answerLate = this.#answerLate
    if (answerLate === undefined || share !== undefined)
      return this.deadline.wait(work, databaseUnavailable, share)
    return this.deadline.outlast(work, () => answerLate(databaseUnavailable()))
  }

  /**
   * Does work with a permit for a connection of the database. The work waits for no other permit.
   *
   * @throws {ApiError} OVERLOADED where too many wait, or the permit comes too late; DATABASE_UNAVAILABLE for late
   * work, which holds its permit to its end
   */
  withDatabasePermit<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.app.withDatabasePermit(this, work)
  }

  /** Notes an outcome at the database, in a queue of its own: never refused, also without a client. */
  note(work: () => Promise<void>): Promise<void> {
    return this.wait(() => this.app.noteOutcome(this.reply.request, work))
  }

  /** Waits for the next slice of the event loop, after those of other callers. @param signal ends the wait */
  nextSlice(signal?: AbortSignal): Promise<void> {
    return this.app.slices.next(this.clientKey, signal)
  }

  /** Does work whose outcome has to be noted: it goes on to its end after the client was answered at the deadline. */
  toTheEnd<Result>(work: () => Promise<Result>, failedLate: (error: unknown) => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      let fail: (error: unknown) => void = reject
      this.#answerLate = (error) => {
        fail = failedLate
        reject(error)
      }
      work().then(resolve, (error) => fail(error))
    })
  }
}
