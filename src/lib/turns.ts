import { setImmediate } from 'node:timers/promises'

/** Lets others go on where a computation has gone on for long enough; most often it returns at once. */
export type Pause = () => Promise<void>

/**
 * Makes what long computations pause with: in each turn of the event loop one of them goes on, however many
 * there are, so that requests wait for one slice at most.
 *
 * @param milliseconds how long a slice is
 * @returns makes the pause of a computation that begins
 */
export function createTurns(milliseconds: number): () => Pause {
  let last = Promise.resolve()

  function nextTurn(): Promise<void> {
    last = last.then(() => setImmediate())
    return last
  }

  return () => {
    let end = performance.now() + milliseconds
    return async () => {
      if (performance.now() < end) return
      await nextTurn()
      end = performance.now() + milliseconds
    }
  }
}
