import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { networkOf } from '#src/lib/network.ts'
import type { InPlace } from './hashing.ts'
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
  compare: (inPlace: InPlace) => Promise<Result | undefined>,
) => Promise<Result | undefined>

export function createComparison(db: Kysely<Tables>, throttle: Throttle, inTurn: InTurn): CompareInTurn {
  return (account, visit, compare) => {
    const { address, atDatabase, note } = visit
    const ofAccount = accountSubjects(account, address)
    const everywhere = everywhereSubject(account)
    const subjects = [...ofAccount, ...addressSubjects(address)]
    const isKnown = () => atDatabase(() => isNetworkOf(db, account, networkOf(address)))
    async function slowDown() {
      const isOver = await atDatabase(() => throttle.isOver(everywhere))
      if (isOver && !(await isKnown())) await sleep(CEILING_PAUSE_MS)
    }
    return inTurn(subjects, { account, visit, isKnown }, async (inPlace) => {
      await slowDown()
      const found = await compare(inPlace)
      // What was sent together must not slip through together, and nothing of what is refused tells whether it was
      // right. A guess counts, too, when its client has gone away.
      await note(() => throttle.refuseBlocked(subjects))
      if (found === undefined) await note(() => throttle.admit([...subjects, everywhere]))
      else await note(() => throttle.forget(ofAccount))
      return found
    })
  }
}
