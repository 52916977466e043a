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
    work()
      .finally(() => clearTimeout(timer))
      .then(resolve, reject)
  })
}

/**
 * Waits for work for as long as it gets on.
 *
 * @param milliseconds that may pass until it has got on a step
 * @param work calls what it is given with each step
 */
export function whileGettingOn<Result>(
  milliseconds: number,
  work: (gotOn: () => void) => Promise<Result>,
  late: () => Error,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), milliseconds)
    work(() => timer.refresh())
      .finally(() => clearTimeout(timer))
      .then(resolve, reject)
  })
}
