import type { Hashing, InPlace } from './hashing.ts'
import type { Subject } from './subjects.ts'
import type { Throttle } from './throttle.ts'
import type { Visit } from './visits.ts'

/** Whose password is hashed, and who asks for that: see `HashingFor`. */
export interface HashingVisit {
  account: string
  visit: Visit
  isKnown?: () => Promise<boolean>
}

/**
 * Does work that hashes when its turn comes, for those who need not wait. What is sent together comes so far
 * together: when it has been hashed, the work looks again.
 */
export type InTurn = <Result>(
  subjects: Subject[],
  whose: HashingVisit,
  work: (inPlace: InPlace) => Promise<Result>,
) => Promise<Result>

export function createTurns(throttle: Throttle, hashing: Hashing): InTurn {
  return (subjects, { visit, ...whose }, work) =>
    hashing.run({ ...whose, address: visit.address }, async (inPlace) => {
      await visit.atDatabase(() => throttle.refuseBlocked(subjects))
      return work(inPlace)
    })
}
