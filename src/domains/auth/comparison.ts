import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { networkOf } from '#src/lib/network.ts'
import { isNetworkOf } from './queries.ts'
import { accountSubjects, addressSubjects, everywhereSubject } from './subjects.ts'
import type { Throttle } from './throttle.ts'
import type { InTurn } from './turns.ts'
import type { Visit } from './visits.ts'

/** What a guess takes where there are too many at an account from everywhere. */
const CEILING_PAUSE_MS = 1000

/**
 * Compares a password when its turn comes, and counts where it is wrong. Where guesses at the account come from
 * everywhere, each takes a second, and they wait for one another: that slows them down, and keeps nobody out.
 * Where the owner has come from lately, they neither pause nor wait for those elsewhere.
 */
export type CompareInTurn = <Result>(
  account: string,
  visit: Visit,
  compare: () => Promise<Result | undefined>,
) => Promise<Result | undefined>

export function createComparison(db: Kysely<Tables>, throttle: Throttle, inTurn: InTurn): CompareInTurn {
  return (account, visit, compare) => {
    const { address, atDatabase, inTime } = visit
    const ofAccount = accountSubjects(account, address)
    const everywhere = everywhereSubject(account)
    const subjects = [...ofAccount, ...addressSubjects(address)]
    const isKnown = () => atDatabase(() => isNetworkOf(db, account, networkOf(address)))
    async function slowDown() {
      const isOver = await atDatabase(() => throttle.isOver(everywhere))
      if (isOver && !(await isKnown())) await sleep(CEILING_PAUSE_MS)
    }
    async function compareAndCount() {
      const found = await compare()
      // Without a turn at the database, which a client that has gone away is not given: a guess counts all the
      // same. Few come so far at a time.
      if (found === undefined) await inTime(() => throttle.count([...subjects, everywhere]))
      else await inTime(() => throttle.forget(ofAccount))
      return found
    }
    return inTurn(subjects, { account, visit, isKnown }, compareAndCount, slowDown)
  }
}
