import { setMaxListeners } from 'node:events'

/** A wait without hope is over after so long, or at the next look. */
const HOPELESS_MS = 2500
const LOOK_MS = 250

/** Time that a request may wait for the database, in all. Waits within a wait count once. */
export class TimeBudget {
  readonly #milliseconds: number
  readonly #isHopeless: () => boolean
  #spent = 0
  /** Deadline of the outermost wait. */
  #until: number | undefined

  /** @param isHopeless whether the database is away: who has waited a while then waits no longer */
  constructor(milliseconds: number, isHopeless: () => boolean = () => false) {
    this.#milliseconds = milliseconds
    this.#isHopeless = isHopeless
  }

  /** Milliseconds. */
  left(): number {
    return this.#until === undefined ? this.#milliseconds - this.#spent : this.#until - performance.now()
  }

  /**
   * Waits for work until its deadline; then the work goes on without a reader of its result.
   *
   * @param late makes the error of the deadline
   * @param share of the time left; the rest is for the work that follows
   */
  wait<Result>(work: () => Promise<Result>, late: () => Error, share = 1): Promise<Result> {
    return this.#during(
      () =>
        new Promise((resolve, reject) => {
          this.outlast(work, () => reject(late()), share).then(resolve, reject)
        }),
    )
  }

  /** Waits for work to its end; calls `late` at the deadline. */
  outlast<Result>(work: () => Promise<Result>, late: () => void, share = 1): Promise<Result> {
    return this.#during(async () => {
      const stop = this.#callLate(late, share * this.left())
      try {
        return await work()
      } finally {
        stop()
      }
    })
  }

  /** Gives the way to stop. */
  #callLate(late: () => void, milliseconds: number): () => void {
    const due = performance.now() + milliseconds
    const waited = this.#milliseconds - this.left()
    const look = () => {
      const left = due - performance.now()
      if (left <= 0 || this.#isHopeless()) late()
      else timer = setTimeout(look, Math.min(left, LOOK_MS))
    }
    let timer = setTimeout(look, Math.max(0, Math.min(milliseconds, HOPELESS_MS - waited)))
    return () => clearTimeout(timer)
  }

  /** Counts the time of work. */
  async #during<Result>(work: () => Promise<Result>): Promise<Result> {
    const began = this.#begin()
    try {
      return await work()
    } finally {
      this.#end(began)
    }
  }

  /** Undefined within another wait. */
  #begin(): number | undefined {
    if (this.#until !== undefined) return undefined
    const began = performance.now()
    this.#until = began + this.left()
    return began
  }

  #end(began: number | undefined): void {
    if (began === undefined) return
    this.#until = undefined
    this.#spent += performance.now() - began
  }
}

/**
 * A signal with a deadline. On Node 20 `AbortSignal.any` loses a signal of `AbortSignal.timeout` in a garbage
 * collection, and never aborts, so this one has a timer and a controller.
 *
 * @param parent aborts the signal too
 */
export function createDeadline(parent?: AbortSignal) {
  const controller = new AbortController()
  // Polygons of a group wait at the same time.
  setMaxListeners(0, controller.signal)
  let timer: NodeJS.Timeout | undefined
  const abort = () => controller.abort(parent?.reason)
  if (parent?.aborted) abort()
  else parent?.addEventListener('abort', abort)
  return {
    signal: controller.signal,
    /** Moves the deadline to so many milliseconds from now. */
    setDue(milliseconds: number, late: () => Error): void {
      clearTimeout(timer)
      timer = setTimeout(() => controller.abort(late()), milliseconds)
    },
    abort: (reason: unknown) => controller.abort(reason),
    /** Ends the timer when the work is done. */
    end(): void {
      clearTimeout(timer)
      parent?.removeEventListener('abort', abort)
    },
  }
}

/** Waits for one step of longer work. */
export type Wait = <Found>(step: () => Promise<Found>) => Promise<Found>

/**
 * Waits for work until one of its steps is late.
 *
 * @param budget makes the time of each
 */
export function waitInSteps<Result>(
  budget: () => TimeBudget,
  work: (wait: Wait) => Promise<Result>,
  late: () => Error,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    work((step) => budget().outlast(step, () => reject(late()))).then(resolve, reject)
  })
}
