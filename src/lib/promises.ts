import { setTimeout } from 'node:timers/promises'

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
