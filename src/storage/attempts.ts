import { setTimeout } from 'node:timers/promises'
import { StorageUnavailable } from './store.ts'

/** How long is waited before something is tried once more, time after time: for an operator, who has begun long work. */
export const PAUSES_MS: readonly number[] = [500, 2000, 8000]

/**
 * Does something that may be done twice, and again after a while where the store does not answer: providers ask for
 * that now and then, and a load of hours is not to end for it.
 */
export async function inAttempts<Result>(
  work: () => Promise<Result>,
  pausesMs: readonly number[],
): Promise<Result> {
  for (const pauseMs of pausesMs) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StorageUnavailable) || error.hasAnswered) throw error
      await setTimeout(pauseMs)
    }
  }
  return work()
}
