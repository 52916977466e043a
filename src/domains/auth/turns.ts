import type { Hashing } from './hashing.ts'
import type { Subject } from './subjects.ts'
import type { Throttle } from './throttle.ts'
import type { Visit } from './visits.ts'

/** Whose password is hashed, and who asks for that: see `HashingFor`. */
export interface HashingVisit {
  account: string
  visit: Visit
  isKnown?: () => Promise<boolean>
}

/** Does work that hashes when its turn comes, for those who need not wait. */
export type InTurn = <Result>(
  subjects: Subject[],
  whose: HashingVisit,
  work: () => Promise<Result>,
  prepare?: () => Promise<void>,
) => Promise<Result>

export function createTurns(throttle: Throttle, hashing: Hashing): InTurn {
  return (subjects, { visit, ...whose }, work, prepare) => {
    const refuseBlocked = () => visit.atDatabase(() => throttle.refuseBlocked(subjects))
    return hashing.run(
      { ...whose, address: visit.address },
      async () => {
        await refuseBlocked()
        await prepare?.()
      },
      async () => {
        // The second look comes after the wait: what was sent together must not slip through together.
        await refuseBlocked()
        return work()
      },
    )
  }
}
