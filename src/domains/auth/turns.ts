import type { Hashing, HashingFor } from './hashing.ts'
import type { Subject } from './subjects.ts'
import type { Throttle } from './throttle.ts'

/** Does work that hashes when its turn comes, for those who need not wait. */
export type InTurn = <Result>(
  subjects: Subject[],
  whose: HashingFor,
  work: () => Promise<Result>,
  prepare?: () => Promise<void>,
) => Promise<Result>

export function createTurns(throttle: Throttle, hashing: Hashing): InTurn {
  return (subjects, whose, work, prepare) =>
    hashing.run(
      whose,
      async () => {
        await throttle.refuseBlocked(subjects)
        await prepare?.()
      },
      async () => {
        // The second look comes after the wait: what was sent together must not slip through together.
        await throttle.refuseBlocked(subjects)
        return work()
      },
    )
}
