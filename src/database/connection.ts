import pg from 'pg'
import { type BinaryRow, copyOut } from './copy-out.ts'
import { isUndone } from './failures.ts'

declare module 'pg' {
  /** What pg has no types for. */
  interface ClientBase {
    /** `I` where no transaction is open, as the server said last; null before it has said anything. */
    getTransactionStatus(): 'I' | 'T' | 'E' | null
    /** What clients of ours have: the rows of a query without parameters, as `copyOut` reads them. */
    copyOut(text: string): Promise<BinaryRow[]>
  }
}

export interface ConnectionOptions {
  /** A connection that is not there by then is given up. */
  connectTimeoutMs: number
  /** A connection that leaves a statement without an answer for so long is cut; undefined for never. */
  cutAfterMs: number | undefined
  /** Is told that one was cut: others that lead to the same place may be dead as well. */
  onCut(): void
}

type Query = (...args: unknown[]) => unknown
type Callback = (error: unknown, result?: unknown) => void

const NO_TRANSACTION = 'I'

/**
 * pg's client; a statement without an answer by the deadline destroys its connection. Handing it back to the
 * pool, as pg's own query_timeout does, would give a busy client to the next.
 *
 * A statement on its own that a deadlock has undone is asked once more: it was a transaction by itself, of which
 * nothing is left. `inTransaction` does the same for several.
 */
export function connectionWith({ connectTimeoutMs, cutAfterMs, onCut }: ConnectionOptions): typeof pg.Client {
  const query = pg.Client.prototype.query as Query

  return class extends pg.Client {
    constructor(config: pg.ClientConfig) {
      super({ ...config, connectionTimeoutMillis: connectTimeoutMs })
    }

    override query(...args: unknown[]): never {
      const callback = args.at(-1)
      // A stream (COPY) has its own pace, and cannot be sent again; `copyOut` sees to itself.
      if (typeof args[0] === 'object' && 'submit' in (args[0] as object))
        return query.apply(this, args) as never
      // pool.query passes a callback, everyone else waits for a promise.
      if (typeof callback !== 'function') return this.#ask(() => query.apply(this, args)) as never
      this.#ask(() => query.apply(this, args.slice(0, -1))).then(
        (result) => (callback as Callback)(undefined, result),
        (error) => (callback as Callback)(error),
      )
      return undefined as never
    }

    override copyOut(text: string): Promise<BinaryRow[]> {
      return this.#ask(() => copyOut(this, text))
    }

    async #ask<Result>(ask: () => Result | Promise<Result>): Promise<Result> {
      const alone = this.getTransactionStatus() === NO_TRANSACTION
      try {
        return await this.#askOnce(ask)
      } catch (error) {
        if (alone && isUndone(error)) return this.#askOnce(ask)
        throw error
      }
    }

    async #askOnce<Result>(ask: () => Result | Promise<Result>): Promise<Result> {
      const deadline = cutAfterMs && setTimeout(() => this.#cut(cutAfterMs), cutAfterMs)
      try {
        return await ask()
      } catch (error) {
        // The server is about to hang up. Until it has, the pool would give the connection to the next.
        if ((error as pg.DatabaseError).severity === 'FATAL') void this.end()
        throw error
      } finally {
        clearTimeout(deadline)
      }
    }

    #cut(milliseconds: number): void {
      this.connection.stream.destroy(new Error(`no answer within ${milliseconds} ms`))
      onCut()
    }
  }
}
