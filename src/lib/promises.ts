import { setTimeout } from 'node:timers/promises'

/** What an error says; of anything else that was thrown, how it reads. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of an error of Node or of the database, such as ENOENT or 57P01; undefined where it has none. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/**
 * Values of which some are not known. As a rule all are: a promise for each would cost as much as a value.
 *
 * @param known undefined where a value is not known
 * @param valueAt asks for the one that is not known at a place
 */
export async function completed<Value>(
  known: (Value | undefined)[],
  valueAt: (index: number) => Promise<Value>,
): Promise<Value[]> {
  if (!known.includes(undefined)) return known as Value[]
  return Promise.all(known.map((value, index) => (value === undefined ? valueAt(index) : value)))
}

/** Work that is going on. */
interface UnderWay {
  /** Adds work until it is done; answers with it. */
  add<Result>(work: Promise<Result>): Promise<Result>
  /** Waits until nothing is going on, for so many milliseconds at most. */
  over(milliseconds: number): Promise<void>
}

export function createUnderWay(): UnderWay {
  const works = new Set<Promise<unknown>>()

  return {
    add(work) {
      // What has failed is told to those who wait for it.
      const settled = work.then(
        () => void works.delete(settled),
        () => void works.delete(settled),
      )
      works.add(settled)
      return work
    },
    async over(milliseconds) {
      if (works.size > 0) await Promise.race([Promise.all(works), setTimeout(milliseconds)])
    },
  }
}
