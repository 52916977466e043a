/** How long something goes on waiting, whatever it waits for. */
export interface Patience {
  /** Milliseconds that are left. */
  left(): number
  /** Does work that ends by itself in time, and counts how long it takes. */
  during<Result>(work: () => Promise<Result>): Promise<Result>
  /**
   * Waits for work until patience is at its end; the work goes on, and nobody is told what becomes of it. Waits
   * within it are counted once.
   *
   * @param late makes the error where the work takes too long
   * @param share of the time that is left: what comes after it may take the rest
   */
  wait<Result>(work: () => Promise<Result>, late: () => Error, share?: number): Promise<Result>
  /** Waits for work to its end, however long it takes, and says when patience is at its end. */
  outlast<Result>(work: () => Promise<Result>, late: () => void): Promise<Result>
}

export function createPatience(milliseconds: number): Patience {
  let spent = 0
  /** When the wait under way has to be over. */
  let until: number | undefined

  const left = () => (until === undefined ? milliseconds - spent : until - performance.now())

  async function during<Result>(work: () => Promise<Result>): Promise<Result> {
    if (until !== undefined) return work()
    const began = performance.now()
    until = began + left()
    try {
      return await work()
    } finally {
      until = undefined
      spent += performance.now() - began
    }
  }

  return {
    left,
    during,
    wait: (work, late, share = 1) => during(() => within(share * left(), work, late)),
    outlast: (work, late) =>
      during(() => {
        const timer = setTimeout(late, Math.max(0, left()))
        return work().finally(() => clearTimeout(timer))
      }),
  }
}

/** Waits so many milliseconds for work. */
function within<Result>(
  milliseconds: number,
  work: () => Promise<Result>,
  late: () => Error,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), Math.max(0, milliseconds))
    work().then(
      (result) => {
        clearTimeout(timer)
        resolve(result)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
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
