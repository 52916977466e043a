import { createFairLine, type Party } from './fair-line.ts'
import type { QueueState } from './fair-queue.ts'

/** Bounds how many tasks are under way. Where there are too many, whoever has most of them loses the newest. */
export interface FairRoom {
  /**
   * Does a task at once.
   *
   * @throws what the room refuses with, now or while the task is under way
   */
  run<Result>(party: Party, task: () => Promise<Result>): Promise<Result>
  /** Nothing waits here: what there is room for has begun. */
  state(): QueueState
}

/**
 * Makes a room for so many tasks.
 *
 * @param refusal makes what a task is refused with
 */
export function createFairRoom(limit: number, refusal: () => Error): FairRoom {
  const inside = createFairLine<(error: Error) => void>()
  let refused = 0
  return {
    run: (party, task) =>
      new Promise((resolve, reject) => {
        inside.add(party, reject)
        const refuse = inside.size() > limit ? inside.takeNewestOfMost() : undefined
        if (refuse) refused++
        refuse?.(refusal())
        if (refuse === reject) return
        task()
          .finally(() => inside.remove(party, reject))
          .then(resolve, reject)
      }),
    state: () => ({ running: inside.size(), waiting: 0, refused }),
  }
}
