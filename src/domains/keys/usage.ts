import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { AddKeyUsage } from '#src/http/key-usage.ts'
import { DAY_MS } from '#src/lib/days.ts'
import { addKeyUsage, deleteOldUsage } from './queries.ts'

/** Makes what keeps how often keys are used, and once a day forgets what is long past. */
export function createUsageKeeper(db: Kysely<Tables>): AddKeyUsage {
  let cleanedUp = Number.NEGATIVE_INFINITY
  return async (usage) => {
    await addKeyUsage(db, usage)
    if (performance.now() < cleanedUp + DAY_MS) return
    cleanedUp = performance.now()
    await deleteOldUsage(db)
  }
}
