import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { ApiError } from '#src/errors.ts'
import { clearFailures, deleteOldFailures, recordFailure, secondsBlocked } from './queries.ts'
import type { Subject } from './subjects.ts'

export interface Throttle {
  /** @throws {ApiError} TOO_MANY_REQUESTS, with Retry-After, while one of the subjects has to wait */
  refuseBlocked(subjects: Subject[]): Promise<void>
  /** Counts a failure, or what is to be rare in any case. */
  count(subjects: Subject[]): Promise<void>
  /** Forgets a subject's failures. */
  forget(subject: Subject): Promise<void>
}

const CLEAN_UP_EVERY_MS = 600_000

/** Counts failures in the database, which all processes share and whose clock is the only one. */
export function createThrottle(db: Kysely<Tables>): Throttle {
  let cleanedUp = Number.NEGATIVE_INFINITY
  return {
    async refuseBlocked(subjects) {
      const seconds = await secondsBlocked(
        db,
        subjects.map(({ hash }) => hash),
      )
      if (seconds === 0) return
      throw new ApiError('TOO_MANY_REQUESTS', `Too many attempts; try again in ${seconds} s.`).withHeader(
        'retry-after',
        String(seconds),
      )
    },
    async count(subjects) {
      for (const subject of subjects) await recordFailure(db, subject)
      if (performance.now() < cleanedUp + CLEAN_UP_EVERY_MS) return
      cleanedUp = performance.now()
      await deleteOldFailures(db)
    },
    forget: ({ hash }) => clearFailures(db, hash),
  }
}
