import { setTimeout } from 'node:timers/promises'

/** Work that is going on. */
export interface UnderWay {
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
