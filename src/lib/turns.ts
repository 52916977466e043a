import { type ClientKey, createClientQueue } from './limiter.ts'

/** Waits until a long computation may go on; most often it returns at once. */
export type Pause = () => Promise<void>

export type SliceQueue = ReturnType<typeof createEventLoopQueue>

/**
 * Slices of the event loop: a short task waits for one slice of long ones at most.
 *
 * @param milliseconds time of all long computations in one turn of the event loop
 */
export function createEventLoopQueue(milliseconds: number) {
  const queue = createClientQueue()
  const callbacks: (() => void)[] = []
  let ending = false
  /** End of the slice; undefined before the first computation of a turn. */
  let until: number | undefined

  function isTimeLeft(): boolean {
    const now = performance.now()
    if (until !== undefined) return now < until
    until = now + milliseconds
    endSoon()
    return true
  }

  function endSoon(): void {
    if (ending) return
    ending = true
    setImmediate(() => {
      ending = false
      until = undefined
      for (const callback of callbacks.splice(0)) callback()
      goOn()
    })
  }

  function goOn(): void {
    if (queue.size() === 0 || !isTimeLeft()) return
    queue.take()?.start()
    // After its next pause or wait.
    queueMicrotask(() => process.nextTick(goOn))
  }

  return {
    /** Waits for a slice. The computation calls again before that has passed. */
    async next(clientKey: ClientKey, signal?: AbortSignal): Promise<void> {
      signal?.throwIfAborted()
      if (queue.size() === 0 && isTimeLeft()) return
      await queue.wait(clientKey, signal)
    },
    waiting: queue.size,
    /** Calls back at the end of this turn of the event loop, before long computations go on. */
    atEnd(callback: () => void): void {
      callbacks.push(callback)
      endSoon()
    },
  }
}

/** Runs a few tasks at the same time; yields results, and a failure of `tasks`, in order. */
export async function* inOrder<Result>(
  tasks: AsyncIterable<() => Promise<Result>>,
  concurrency: number,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = []
  for await (const task of withFailureAsTask(tasks)) {
    const result = task()
    // Its failure is thrown in order, or not at all after an earlier one.
    result.catch(() => {})
    running.push(result)
    if (running.length === concurrency) yield running.shift() as Promise<Result>
  }
  yield* running
}

async function* withFailureAsTask<Result>(
  tasks: AsyncIterable<() => Promise<Result>>,
): AsyncGenerator<() => Promise<Result>> {
  try {
    yield* tasks
  } catch (error) {
    yield () => Promise.reject(error)
  }
}
