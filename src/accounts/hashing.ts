import { availableParallelism } from 'node:os'
import { ApiError } from '#src/errors.ts'
import { createLimiter, type Limiter, type QueueState } from '#src/lib/fair-queue.ts'
import { networkOf, siteOf } from '#src/lib/network.ts'
import type { Subject } from './queries.ts'
import type { AccountRequest, Throttle } from './throttle.ts'

/** Queues for hashing, shared by all workers of a service. */
export interface HashingQueues {
  /** In which passwords are hashed. */
  places: HashingQueue
  /** For requests about one account, which stands for a network here. */
  accounts: HashingQueue
  /** Notes that something is asked about an account, until it ends. */
  ask(account: string): Promise<Asking>
}

export type HashingQueue = Pick<Limiter, 'run' | 'enter' | 'state'>

interface Asking {
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

/** Requests about one account, from all networks together. */
const RUNNING_PER_ACCOUNT = 2

/**
 * @param refusal makes the error of a full queue
 * @param processes which have these lines
 */
export function createHashingQueues(refusal: () => Error, processes = 1): HashingQueues {
  const running = Math.max(1, Math.min(availableParallelism() - 1, RUNNING_PER_PROCESS * processes))
  const asked = new Map<string, number>()
  return {
    places: createLimiter({ running, waiting: WAITING }, refusal),
    accounts: createLimiter(
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

/** Whose password is hashed, and for whom. */
interface HashingFor {
  /** The key of the e-mail, whether or not it has an account. */
  account: string
  address: string
  /** Whether it is known to be the owner's, such as by its network. Only asked while others want the account, too. */
  isKnown?: () => Promise<boolean>
}

/**
 * Hashes or compares a password when there is a place for that. Nothing else is waited for in the place, least of all
 * the database: others would wait for it, too.
 *
 * @throws {ApiError} OVERLOADED in a full queue, for the client key with most requests in it
 */
export type WithPermit = <Result>(hash: () => Promise<Result>) => Promise<Result>

/** Where all passwords of a service are hashed and compared, a few at a time. */
interface Hashing {
  /**
   * Does work that hashes when its turn comes. Networks take turns, and within them accounts. What is asked for one
   * account has two places at a time, from however many networks it comes, and there networks take turns as well; one
   * that is known has places of its own.
   *
   * @throws {ApiError} OVERLOADED in a full queue, for the client key with most requests in it
   */
  run<Result>(whose: HashingFor, work: (inPlace: WithPermit) => Promise<Result>): Promise<Result>
  /** Running, waiting and refused work; refusals of one account count as well. */
  state(): QueueState
}

/** @param lines where those who hash wait: of this process, or of all workers of a service */
export function createHashing({ places, accounts, ask }: HashingQueues = createHashingQueues(busy)): Hashing {
  async function lineOf({ account, address, isKnown }: HashingFor, asking: number): Promise<string> {
    const crowded = asking > RUNNING_PER_ACCOUNT
    // The kind comes first: an e-mail of a client may look like anything.
    return crowded && (await isKnown?.()) ? `known ${networkOf(address)} ${account}` : `account ${account}`
  }

  return {
    async run(whose, work) {
      const { account, address } = whose
      const network = networkOf(address)
      const { asking, end } = await ask(account)
      try {
        const inPlace: WithPermit = (hash) =>
          places.run({ network: siteOf(address), caller: `${network} ${account}` }, hash)
        return await accounts.run({ network: await lineOf(whose, asking), caller: network }, () =>
          work(inPlace),
        )
      } finally {
        end()
      }
    },
    state() {
      const [hashed, asked] = [places.state(), accounts.state()]
      return {
        running: hashed.running,
        waiting: hashed.waiting + asked.waiting,
        refused: hashed.refused + asked.refused,
      }
    },
  }
}

/** The error of a full queue. */
export function busy(): ApiError {
  return new ApiError('OVERLOADED', 'The service is busy with other logins; try again in a second.')
}

/** Whose password is hashed, and who asks for that: see `HashingFor`. */
interface HashingVisit {
  account: string
  visit: AccountRequest
  isKnown?: () => Promise<boolean>
}

/**
 * Does work that hashes when its turn comes, for those who need not wait. What is sent together comes so far
 * together: when it has been hashed, the work looks again.
 */
export type RunThrottled = <Result>(
  subjects: Subject[],
  whose: HashingVisit,
  work: (inPlace: WithPermit) => Promise<Result>,
) => Promise<Result>

export function createThrottledQueue(throttle: Throttle, hashing: Hashing): RunThrottled {
  return (subjects, { visit, ...whose }, work) =>
    hashing.run({ ...whose, address: visit.address }, async (inPlace) => {
      await visit.atDatabase(() => throttle.refuseBlocked(subjects))
      return work(inPlace)
    })
}
