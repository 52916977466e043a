import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { IdempotencyRecords } from '#src/http/attempts.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import {
  beginAttempt,
  deleteAttempt,
  deleteExcess,
  deleteExpired,
  findAnswer,
  storeAnswer,
} from './queries.ts'

/** An account's records are counted when this process has begun so many requests since the last time. */
const COUNTED_EVERY = 100

/** How long a request may take besides its statements. */
const GRACE_SECONDS = 60

/**
 * Keeps in the database, which all processes share, what was answered to requests with an Idempotency-Key.
 * Each step is one statement: nothing is held while the work is done.
 */
export function createIdempotencyRecords(
  db: Kysely<Tables>,
  statementTimeoutMs: number,
  logFailure: LogFailure,
): IdempotencyRecords {
  const leaseSeconds = statementTimeoutMs / 1000 + GRACE_SECONDS
  let begun = 0

  return {
    async begin(attempt, userId) {
      if (userId !== null && begun++ % COUNTED_EVERY === 0) {
        // The request goes on meanwhile: there may be some more for a moment.
        deleteExcess(db, userId).catch((error) => logFailure(error, 'old answers were not deleted'))
      }
      if (await beginAttempt(db, attempt, userId, leaseSeconds)) return 'begun'
      return (await findAnswer(db, attempt.id)) ?? 'running'
    },
    store: (attempt, userId, answer) => storeAnswer(db, attempt, userId, answer),
    abandon: (attempt) => deleteAttempt(db, attempt),
    deleteExpired: () => deleteExpired(db),
  }
}
