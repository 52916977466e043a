import type { Kysely } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { ApiError } from '#src/errors.ts'
import {
  clearFailures,
  deleteOldFailures,
  hasFailedTooOften,
  recordFailure,
  recordUnlessBlocked,
  secondsBlocked,
} from './queries.ts'
import type { Subject } from './subjects.ts'

export interface Throttle {
  /** @throws {ApiError} TOO_MANY_REQUESTS, with Retry-After, while one of the subjects has to wait */
  refuseBlocked(subjects: Subject[]): Promise<void>
  /** Counts a failure, or what is to be rare in any case. */
  count(subjects: Subject[]): Promise<void>
  /**
   * Counts what is to be rare unless one of the subjects has to wait: of what is sent together no more
   * comes through than of what is sent in turn.
   *
   * @throws {ApiError} TOO_MANY_REQUESTS, with Retry-After
   */
  admit(subjects: Subject[]): Promise<void>
  /** Whether a subject has failed more often than it may lately. */
  isOver(subject: Subject): Promise<boolean>
  /** Forgets the failures of subjects. */
  forget(subjects: Subject[]): Promise<void>
}

const CLEAN_UP_EVERY_MS = 600_000

/** Counts failures in the database, which all processes share and whose clock is the only one. */
export function createThrottle(db: Kysely<Tables>): Throttle {
  let cleanedUp = Number.NEGATIVE_INFINITY

  async function cleanUp(): Promise<void> {
    if (performance.now() < cleanedUp + CLEAN_UP_EVERY_MS) return
    cleanedUp = performance.now()
    await deleteOldFailures(db)
  }

  return {
    async refuseBlocked(subjects) {
      const seconds = await secondsBlocked(db, hashesOf(subjects))
      if (seconds > 0) throw tooMany(seconds)
    },
    async count(subjects) {
      for (const subject of subjects) await recordFailure(db, subject)
      await cleanUp()
    },
    async admit(subjects) {
      for (const subject of subjects) {
        if (await recordUnlessBlocked(db, subject)) continue
        // The wait may be over by now: it is one second more then.
        throw tooMany(Math.max(1, await secondsBlocked(db, [subject.hash])))
      }
      await cleanUp()
    },
    isOver: (subject) => hasFailedTooOften(db, subject),
    forget: (subjects) => clearFailures(db, hashesOf(subjects)),
  }
}

function hashesOf(subjects: Subject[]): Buffer[] {
  return subjects.map(({ hash }) => hash)
}

export function tooMany(seconds: number): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', `Too many attempts; try again in ${seconds} s.`).withHeader(
    'retry-after',
    String(seconds),
  )
}
