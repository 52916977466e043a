import { createLimiter, EVERYBODY } from '#src/lib/limiter.ts'

export interface Limits {
  /** Runs at the same time; a run that is too late keeps its permit until it ends. */
  concurrency: number
  /** Of a run, with its wait. */
  deadlineMs: number
  /** Failures in a row after which all others fail at once, for a pause. */
  failures: number
  pauseMs: number
}

interface Guarding extends Limits {
  isFailure(error: unknown): boolean
  /** Makes the error of a run that is too late, and of one that is not begun. */
  late(): Error
  refusal(): Error
}

/** Runs work that may hang: some at a time, each within a deadline, and none for a pause after failures in a row. */
export function createGuard(limits: Guarding) {
  const { concurrency, deadlineMs, failures: most, pauseMs, isFailure, late, refusal } = limits
  const limiter = createLimiter({ running: concurrency, waiting: Number.POSITIVE_INFINITY }, refusal)
  let failures = 0
  let pausedUntil = 0
  /** Runs that are too late and have not ended. */
  let stuck = 0

  const isAway = () => failures >= most || stuck >= concurrency
  const isPaused = () => stuck >= concurrency || (failures >= most && performance.now() < pausedUntil)

  function learn(hasFailed: boolean): void {
    failures = hasFailed ? failures + 1 : 0
    if (failures >= most) pausedUntil = performance.now() + pauseMs
  }

  /** Begins work, whose permit returns when it ends; the result rejects at the deadline. */
  async function begin<Result>(
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
    release: () => void,
  ): Promise<Result> {
    const begunAt = performance.now()
    const working = work(signal)
    const tooLate = new Promise<never>((_, reject) => {
      const leave = () => {
        stuck++
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
    })
    const end = () => {
      if (signal.aborted) stuck--
      release()
    }
    working.then(end, end)
    try {
      const result = await Promise.race([working, tooLate])
      learn(false)
      return result
    } catch (error) {
      // Work that had to wait had less than its time.
      const hadTime = !signal.aborted || performance.now() - begunAt > deadlineMs / 2
      if (hadTime) learn(isFailure(error))
      throw error
    }
  }

  return {
    isAway,
    async run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
      if (isPaused()) throw refusal()
      const deadline = new AbortController()
      const timer = setTimeout(() => deadline.abort(late()), deadlineMs).unref()
      try {
        const release = await limiter.enter(EVERYBODY, deadline.signal)
        if (!isPaused()) return await begin(work, deadline.signal, release)
        release()
        throw refusal()
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
