import { setTimeout, setTimeout as sleep } from 'node:timers/promises'

export function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of an error of Node or of the database, such as ENOENT or 57P01. */
export function readErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/** Fills in missing values. As a rule none is missing: a promise for each would cost as much as a value. */
export async function fillMissing<Value>(
  values: (Value | undefined)[],
  load: (index: number) => Promise<Value>,
): Promise<Value[]> {
  if (!values.includes(undefined)) return values as Value[]
  return Promise.all(values.map((value, index) => (value === undefined ? load(index) : value)))
}

export function createWorkTracker() {
  const works = new Set<Promise<unknown>>()

  return {
    add<Result>(work: Promise<Result>): Promise<Result> {
      // The caller handles a failure.
      const settled = work.then(
        () => void works.delete(settled),
        () => void works.delete(settled),
      )
      works.add(settled)
      return work
    },
    /** Waits for the end of all work, within a time. */
    async over(milliseconds: number): Promise<void> {
      if (works.size > 0) await Promise.race([Promise.all(works), setTimeout(milliseconds)])
    },
  }
}

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
