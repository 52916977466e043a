import { availableParallelism } from 'node:os'
import { createFairQueue, type FairQueue } from '#src/lib/fair-queue.ts'

/** Where those who have passwords hashed wait. All workers of a service have the same lines. */
export interface HashingLines {
  /** In which passwords are hashed. */
  places: Line
  /** For what is asked about one account, which is called a network here. */
  accounts: Line
  /** Notes that something is asked about an account, until it ends. */
  ask(account: string): Promise<Asking>
}

export type Line = Pick<FairQueue, 'run' | 'enter' | 'state'>

export interface Asking {
  /** So much is asked about the account at this moment, this included. */
  asking: number
  end(): void
}

/**
 * A hash takes about 25 ms of one core and 19 MiB. One core is left to the requests that are not logins,
 * and half of the four threads that Node has in each process to files and name look-ups.
 */
const RUNNING_PER_PROCESS = 2
const WAITING = 64

/** Of what is asked about one account, from however many networks. */
export const RUNNING_PER_ACCOUNT = 2

/**
 * @param refusal makes what is refused with where too many wait
 * @param processes which have these lines
 */
export function createHashingLines(refusal: () => Error, processes = 1): HashingLines {
  const running = Math.max(1, Math.min(availableParallelism() - 1, RUNNING_PER_PROCESS * processes))
  const asked = new Map<string, number>()
  return {
    places: createFairQueue({ running, waiting: WAITING }, refusal),
    accounts: createFairQueue(
      { running: Number.POSITIVE_INFINITY, runningEachNetwork: RUNNING_PER_ACCOUNT, waiting: WAITING },
      refusal,
    ),
    async ask(account) {
      const asking = (asked.get(account) ?? 0) + 1
      asked.set(account, asking)
      return {
        asking,
        end() {
          const left = (asked.get(account) ?? 0) - 1
          if (left > 0) asked.set(account, left)
          else asked.delete(account)
        },
      }
    },
  }
}
