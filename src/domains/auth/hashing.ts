import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '#src/errors.ts'
import { createFairQueue } from '#src/lib/fair-queue.ts'
import { networkOf, siteOf } from '#src/lib/network.ts'

/** Whose password is hashed, and for whom. */
export interface HashingFor {
  /** The key of the e-mail, whether or not it has an account. */
  account: string
  address: string
  /** Whether somebody is logged in to the account from that network. */
  isKnown?: boolean
  /** So long a place is held before the work begins. */
  pauseMs?: number
}

/** Where all passwords of a service are hashed and compared, a few at a time. */
export interface Hashing {
  /**
   * Does work when its turn comes. Networks take turns, and within them accounts. What is asked for one account
   * has two places at a time, from however many networks it comes, and there networks take turns as well; one
   * that is known has places of its own.
   *
   * @throws {ApiError} OVERLOADED, where too many wait, of whoever has most waiting
   */
  run<Result>(whose: HashingFor, work: () => Promise<Result>): Promise<Result>
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
  return {
    run({ account, address, isKnown = false, pauseMs = 0 }, work) {
      const network = networkOf(address)
      const line = isKnown ? `known ${network} ${account}` : `account ${account}`
      return accounts.run({ network: line, caller: network }, async () => {
        if (pauseMs > 0) await sleep(pauseMs)
        return places.run({ network: siteOf(address), caller: `${network} ${account}` }, work)
      })
    },
  }
}

function busy(): ApiError {
  return new ApiError('OVERLOADED', 'The service is busy with other logins; try again in a second.')
}
