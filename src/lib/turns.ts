import { type ClientKey, createFairLine } from './fair-queue.ts'

/** Lets others go on where a computation has gone on for long enough; most often it returns at once. */
export type Pause = () => Promise<void>

/** Shares the turns of the event loop out, so that what is short waits for one slice of what is long at most. */
export interface Turns {
  /**
   * Waits until there is time for more of something long: at once, where nobody else waits and the present turn
   * has time left. What follows has to come to it again within a slice.
   *
   * @param signal ends the waiting, with its reason
   */
  next(clientKey: ClientKey, signal?: AbortSignal): Promise<void>
  /** How many wait for a slice. */
  waiting(): number
  /** Calls something at the end of the present turn, before anything long goes on. */
  atEnd(callback: () => void): void
}

/**
 * Makes what all long work of a process pauses with: in each turn of the event loop it has so much time in all.
 * Networks take turns with the slices, and within each of them its callers.
 *
 * @param milliseconds how long a slice is
 */
export function createTurns(milliseconds: number): Turns {
  const line = createFairLine<() => void>()
  const callbacks: (() => void)[] = []
  let ending = false
  /** Until when there is time for long work; undefined where none has been done in this turn. */
  let until: number | undefined

  /** The first to ask in a turn begins its time. */
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
    if (line.size() === 0 || !isTimeLeft()) return
    line.take()?.item()
    // When that has come to its next pause, or waits for something else.
    queueMicrotask(() => process.nextTick(goOn))
  }

  function waitFor(clientKey: ClientKey, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        line.remove(clientKey, begin)
        reject(signal?.reason)
      }
      const begin = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      signal?.addEventListener('abort', leave, { once: true })
      line.add(clientKey, begin)
    })
  }

  return {
    async next(clientKey, signal) {
      signal?.throwIfAborted()
      if (line.size() === 0 && isTimeLeft()) return
      await waitFor(clientKey, signal)
    },
    waiting: line.size,
    atEnd(callback) {
      callbacks.push(callback)
      endSoon()
    },
  }
}

/**
 * Does tasks, a few at the same time, and yields what they come to in their order. None begins before what has come
 * of those before it is taken. Where no more of them can be had, that is told in its turn as well.
 *
 * @param atOnce so many at the same time
 */
export async function* inOrder<Result>(
  tasks: AsyncIterable<() => Promise<Result>>,
  atOnce: number,
): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = []
  for await (const task of failingInTurn(tasks)) {
    const result = task()
    // Where it fails, that is told in its turn, or to nobody where one before it has failed.
    result.catch(() => {})
    underWay.push(result)
    if (underWay.length === atOnce) yield underWay.shift() as Promise<Result>
  }
  yield* underWay
}

async function* failingInTurn<Result>(
  tasks: AsyncIterable<() => Promise<Result>>,
): AsyncGenerator<() => Promise<Result>> {
  try {
    yield* tasks
  } catch (error) {
    yield () => Promise.reject(error)
  }
}
