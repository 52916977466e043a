import { setMaxListeners } from 'node:events'

/** Time that a request may wait for the database, in all. Waits within a wait count once. */
export class TimeBudget {
  readonly #milliseconds: number
  #spent = 0
  /** Deadline of the outermost wait. */
  #until: number | undefined

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  /** Milliseconds. */
  left(): number {
    return this.#until === undefined ? this.#milliseconds - this.#spent : this.#until - performance.now()
  }

  /** Counts the time of work that ends by itself. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    const began = this.#begin()
    try {
      return await work()
    } finally {
      this.#end(began)
    }
  }

  /**
   * Waits for work until its deadline; then the work goes on without a reader of its result.
   *
   * @param late makes the error of the deadline
   * @param share of the time left; the rest is for the work that follows
   */
  wait<Result>(work: () => Promise<Result>, late: () => Error, share = 1): Promise<Result> {
    const milliseconds = share * this.left()
    return this.during(() => waitInSteps(milliseconds, (wait) => wait(work), late))
  }

  /** Waits for work to its end; calls `late` at the deadline. */
  outlast<Result>(work: () => Promise<Result>, late: () => void): Promise<Result> {
    return this.during(() => createWait(this.left(), late)(work))
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
 * Gives each step of work a deadline of its own.
 *
 * @param late is called at the deadline of a step, which goes on
 */
export function createWait(milliseconds: number, late: () => void): Wait {
  return async (step) => {
    const timer = setTimeout(late, Math.max(0, milliseconds))
    try {
      return await step()
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Waits for work until one of its steps is late. */
export function waitInSteps<Result>(
  milliseconds: number,
  work: (wait: Wait) => Promise<Result>,
  late: () => Error,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    work(createWait(milliseconds, () => reject(late()))).then(resolve, reject)
  })
}
