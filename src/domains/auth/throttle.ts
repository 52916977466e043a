import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { ApiError } from '#src/errors.ts'
import { networkOf } from '#src/lib/network.ts'
import { clearFailures, deleteOldFailures, recordFailure, secondsBlocked } from './queries.ts'

/**
 * Somebody whose failures are counted. After the free ones each failure doubles the delay, from one
 * second to the longest; it never becomes a lock-out, because all is forgotten after a while.
 */
export interface Subject {
  hash: Buffer
  freeFailures: number
  longestDelaySeconds: number
  /** Forgotten so long after the last failure, or after the first, whatever comes in between. */
  forgottenAfter: { seconds: number; since: 'first' | 'last' }
}

/** Guesses at one account from one address. Its owner, at another address, is not held up by them. */
export function accountSubject(emailKey: string, address: string): Subject {
  return {
    hash: hashOf(`account ${emailKey}\n${networkOf(address)}`),
    freeFailures: 5,
    longestDelaySeconds: 900,
    forgottenAfter: { seconds: 3600, since: 'last' },
  }
}

/** Everything that fails from one address. There may be a whole office behind it: it starts afresh soon. */
export function addressSubject(address: string): Subject {
  return networkSubject('address', address)
}

/** The accounts that are made from one address, however many, hold up no logins there. */
export function registrationSubject(address: string): Subject {
  return networkSubject('registration', address)
}

function networkSubject(kind: string, address: string): Subject {
  return {
    hash: hashOf(`${kind} ${networkOf(address)}`),
    freeFailures: 100,
    longestDelaySeconds: 60,
    forgottenAfter: { seconds: 600, since: 'first' },
  }
}

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

/** SHA-256, so that the table tells nobody who has tried what from where. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
