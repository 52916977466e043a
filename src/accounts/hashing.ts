import { availableParallelism } from 'node:os'
import { ApiError } from '#src/errors.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { addTo, createLimiter, type QueueState } from '#src/lib/limiter.ts'
import { networkOf, siteOf } from '#src/lib/network.ts'
import type { Subject } from './queries.ts'
import type { Throttle } from './throttle.ts'

/** A hash takes about 25 ms of a core and 19 MiB. A core is for other requests, and half of Node's four threads for files. */
const RUNNING = Math.max(1, Math.min(availableParallelism() - 1, 2))
const WAITING = 64

/** Requests about one account, from all networks together. */
const RUNNING_PER_ACCOUNT = 2

interface HashingFor {
  /** The key of the e-mail, with or without an account. */
  account: string
  exchange: Exchange
  /** Whether the request seems to be the owner's. Called only while others want the account. */
  isKnown?: () => Promise<boolean>
}

/** Hashes or compares a password with a permit. The work waits for nothing else meanwhile, least of all the database. */
export type WithPermit = <Result>(hash: () => Promise<Result>) => Promise<Result>

/**
 * Runs work that hashes, for subjects that need not wait. Networks alternate, and within them accounts. An account has
 * two permits for all networks, which alternate as well; a known request has permits of its own.
 */
export type RunThrottled = <Result>(
  subjects: Subject[],
  hashing: HashingFor,
  work: (withPermit: WithPermit) => Promise<Result>,
) => Promise<Result>

export function createThrottledQueue(throttle: Throttle): { run: RunThrottled; state(): QueueState } {
  const hashes = createLimiter({ running: RUNNING, waiting: WAITING }, busy)
  const accounts = createLimiter(
    { running: Number.POSITIVE_INFINITY, runningEachNetwork: RUNNING_PER_ACCOUNT, waiting: WAITING },
    busy,
  )
  const requests = new Map<string, number>()

  async function queueOf({ account, exchange, isKnown }: HashingFor): Promise<string> {
    const crowded = (requests.get(account) ?? 0) > RUNNING_PER_ACCOUNT
    // The kind comes first: an e-mail of a client may look like anything.
    return crowded && (await isKnown?.())
      ? `known ${networkOf(exchange.request.ip)} ${account}`
      : `account ${account}`
  }

  return {
    async run(subjects, hashing, work) {
      const { account, exchange } = hashing
      const { ip } = exchange.request
      const network = networkOf(ip)
      const withPermit: WithPermit = (hash) =>
        hashes.run({ network: siteOf(ip), caller: `${network} ${account}` }, hash)
      addTo(requests, account, 1)
      try {
        return await accounts.run({ network: await queueOf(hashing), caller: network }, async () => {
          // Requests sent together have come so far together: the work looks again after the hash.
          await exchange.withDatabasePermit(() => throttle.refuseBlocked(subjects))
          return work(withPermit)
        })
      } finally {
        addTo(requests, account, -1)
      }
    },
    state() {
      const [hashed, asked] = [hashes.state(), accounts.state()]
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
