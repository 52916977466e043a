import { availableParallelism } from 'node:os'
import { ApiError } from '#src/errors.ts'
import { createFairQueue, type QueueState } from '#src/lib/fair-queue.ts'
import { networkOf, siteOf } from '#src/lib/network.ts'

/** Whose password is hashed, and for whom. */
export interface HashingFor {
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
 * @throws {ApiError} OVERLOADED, where too many wait, of whoever has most waiting
 */
export type InPlace = <Result>(hash: () => Promise<Result>) => Promise<Result>

/** Where all passwords of a service are hashed and compared, a few at a time. */
export interface Hashing {
  /**
   * Does work that hashes when its turn comes. Networks take turns, and within them accounts. What is asked for one
   * account has two places at a time, from however many networks it comes, and there networks take turns as well; one
   * that is known has places of its own.
   *
   * @throws {ApiError} OVERLOADED, where too many wait, of whoever has most waiting
   */
  run<Result>(whose: HashingFor, work: (inPlace: InPlace) => Promise<Result>): Promise<Result>
  /** What is hashed, and what waits to be; what is refused of what is asked for one account counts as well. */
  state(): QueueState
}

/**
 * A hash takes about 25 ms of one core and 19 MiB. One core is left to the requests that are not logins,
 * and half of Node's four threads to files and name look-ups.
 */
const RUNNING = Math.max(1, Math.min(availableParallelism() - 1, 2))
const RUNNING_PER_ACCOUNT = 2
const WAITING = 64

export function createHashing(): Hashing {
  const places = createFairQueue({ running: RUNNING, waiting: WAITING }, busy)
  const accounts = createFairQueue(
    { running: Number.POSITIVE_INFINITY, runningEachNetwork: RUNNING_PER_ACCOUNT, waiting: WAITING },
    busy,
  )
  const asking = new Map<string, number>()

  async function lineOf({ account, address, isKnown }: HashingFor): Promise<string> {
    const crowded = (asking.get(account) ?? 0) > RUNNING_PER_ACCOUNT
    // With the kind in front: what is sent as an e-mail may look like anything.
    return crowded && (await isKnown?.()) ? `known ${networkOf(address)} ${account}` : `account ${account}`
  }

  return {
    async run(whose, work) {
      const { account, address } = whose
      const network = networkOf(address)
      asking.set(account, (asking.get(account) ?? 0) + 1)
      try {
        const inPlace: InPlace = (hash) =>
          places.run({ network: siteOf(address), caller: `${network} ${account}` }, hash)
        return await accounts.run({ network: await lineOf(whose), caller: network }, () => work(inPlace))
      } finally {
        const left = (asking.get(account) ?? 0) - 1
        if (left > 0) asking.set(account, left)
        else asking.delete(account)
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

function busy(): ApiError {
  return new ApiError('OVERLOADED', 'The service is busy with other logins; try again in a second.')
}
