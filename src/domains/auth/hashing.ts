import { ApiError } from '#src/errors.ts'
import type { QueueState } from '#src/lib/fair-queue.ts'
import { networkOf, siteOf } from '#src/lib/network.ts'
import { createHashingLines, type HashingLines, RUNNING_PER_ACCOUNT } from './hashing-lines.ts'

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

/** @param lines where those who hash wait: of this process, or of all workers of a service */
export function createHashing({ places, accounts, ask }: HashingLines = createHashingLines(busy)): Hashing {
  async function lineOf({ account, address, isKnown }: HashingFor, asking: number): Promise<string> {
    const crowded = asking > RUNNING_PER_ACCOUNT
    // With the kind in front: what is sent as an e-mail may look like anything.
    return crowded && (await isKnown?.()) ? `known ${networkOf(address)} ${account}` : `account ${account}`
  }

  return {
    async run(whose, work) {
      const { account, address } = whose
      const network = networkOf(address)
      const { asking, end } = await ask(account)
      try {
        const inPlace: InPlace = (hash) =>
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

/** What is refused where too many wait to be hashed. */
export function busy(): ApiError {
  return new ApiError('OVERLOADED', 'The service is busy with other logins; try again in a second.')
}
