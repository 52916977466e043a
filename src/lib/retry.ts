import { setTimeout as sleep } from 'node:timers/promises'

/** The milliseconds before each new attempt. */
export type Pauses = readonly number[]

/** One new attempt, at once. */
export const ONCE_MORE: Pauses = [0]

/** Pauses from the first to the longest, each twice as long as the one before. */
export function doublingPauses(firstMs: number, longestMs: number): Pauses {
  const pauses = [firstMs]
  for (let next = 2 * firstMs; next < longestMs; next *= 2) pauses.push(next)
  return [...pauses, longestMs]
}

/** The pause after so many failures in a row, where attempts never end: the last pause repeats. */
export function pauseAfter(pauses: Pauses, failures: number): number {
  return pauses[Math.min(failures, pauses.length) - 1] as number
}

/** Does work that may run twice, and again after each pause while it fails for a reason that may pass. */
export async function retry<Result>(
  work: () => Promise<Result>,
  pauses: Pauses,
  mayPass: (error: unknown) => boolean,
): Promise<Result> {
  for (const pauseMs of pauses) {
    try {
      return await work()
    } catch (error) {
      if (!mayPass(error)) throw error
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  return work()
}
