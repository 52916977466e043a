/** How long something goes on waiting, whatever it waits for. */
export interface TimeBudget {
  /** Milliseconds that are left. */
  left(): number
  /** Does work that ends by itself in time, and counts how long it takes. */
  during<Result>(work: () => Promise<Result>): Promise<Result>
  /**
   * Waits for work until time budget is at its end; the work goes on, and nobody is told what becomes of it. Waits
   * within it are counted once.
   *
   * @param late makes the error where the work takes too long
   * @param share of the time that is left: what comes after it may take the rest
   */
  wait<Result>(work: () => Promise<Result>, late: () => Error, share?: number): Promise<Result>
  /** Waits for work to its end, however long it takes, and says when time budget is at its end. */
  outlast<Result>(work: () => Promise<Result>, late: () => void): Promise<Result>
}

export function createTimeBudget(milliseconds: number): TimeBudget {
  return new Budget(milliseconds)
}

/** A class with few promises: every call with a token makes one. */
class Budget implements TimeBudget {
  readonly #milliseconds: number
  #spent = 0
  /** When the wait under way has to be over. */
  #until: number | undefined

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  left(): number {
    return this.#until === undefined ? this.#milliseconds - this.#spent : this.#until - performance.now()
  }

  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    const began = this.#begin()
    try {
      return await work()
    } finally {
      this.#end(began)
    }
  }

  wait<Result>(work: () => Promise<Result>, late: () => Error, share = 1): Promise<Result> {
    const milliseconds = share * this.left()
    const began = this.#begin()
    return new Promise((resolve, reject) => {
      let isLate = false
      const timer = setTimeout(
        () => {
          isLate = true
          this.#end(began)
          reject(late())
        },
        Math.max(0, milliseconds),
      )
      try {
        work().then(
          (result) => {
            if (!isLate) this.#endInTime(timer, began)
            resolve(result)
          },
          (error) => {
            if (!isLate) this.#endInTime(timer, began)
            reject(error)
          },
        )
      } catch (error) {
        this.#endInTime(timer, began)
        reject(error)
      }
    })
  }

  outlast<Result>(work: () => Promise<Result>, late: () => void): Promise<Result> {
    return this.during(() => {
      const timer = setTimeout(late, Math.max(0, this.left()))
      return work().finally(() => clearTimeout(timer))
    })
  }

  /** Has time count; undefined where it does already. */
  #begin(): number | undefined {
    if (this.#until !== undefined) return undefined
    const began = performance.now()
    this.#until = began + this.left()
    return began
  }

  #endInTime(timer: NodeJS.Timeout, began: number | undefined): void {
    clearTimeout(timer)
    this.#end(began)
  }

  #end(began: number | undefined): void {
    if (began === undefined) return
    this.#until = undefined
    this.#spent += performance.now() - began
  }
}

/** Waits for something on behalf of work that does more than that. */
export type Wait = <Found>(something: () => Promise<Found>) => Promise<Found>

/**
 * Makes what waits for one thing after the other, and counts no more than that.
 *
 * @param milliseconds that each of them may take
 * @param late is told that one takes longer; it is waited for all the same
 */
export function createWait(milliseconds: number, late: () => void): Wait {
  return async (something) => {
    const timer = setTimeout(late, milliseconds)
    try {
      return await something()
    } finally {
      clearTimeout(timer)
    }
  }
}

/**
 * Waits for work for as long as it gets on.
 *
 * @param milliseconds that each thing may take which it waits for
 * @param work waits by what it is given
 */
export function whileGettingOn<Result>(
  milliseconds: number,
  work: (wait: Wait) => Promise<Result>,
  late: () => Error,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    work(createWait(milliseconds, () => reject(late()))).then(resolve, reject)
  })
}
