import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { Db } from '#src/data/tables.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { listNetworks } from '#src/lib/network.ts'
import {
  clearFailures,
  hasFailedTooOften,
  recordFailure,
  recordUnlessBlocked,
  type Subject,
  secondsBlocked,
} from './queries.ts'

type Limits = Omit<Subject, 'hash'>

const HOUR = 3600

export const LIMITS = {
  account: { freeFailures: 5, delaySeconds: [1, 900], forgottenAfter: { seconds: HOUR, since: 'last' } },
  // Guesses are only slowed down (see the credential service): they must not keep the owner out.
  everywhere: { freeFailures: 100, delaySeconds: [0, 0], forgottenAfter: { seconds: HOUR, since: 'first' } },
  // There may be a whole office behind an address: it starts afresh soon.
  office: { freeFailures: 100, delaySeconds: [1, 60], forgottenAfter: { seconds: 600, since: 'first' } },
  // Clients continue a session every few minutes, several tabs at once.
  refresh: { freeFailures: 60, delaySeconds: [1, 60], forgottenAfter: { seconds: 600, since: 'first' } },
  // Twenty in an hour are free, for people who have forgotten their accounts. A client with whole lists waits.
  taken: { freeFailures: 20, delaySeconds: [5, 300], forgottenAfter: { seconds: HOUR, since: 'first' } },
  // Seven in an hour at most. Requests in another's name shut no owner out: each mail has a token that works.
  mailbox: { freeFailures: 3, delaySeconds: [300, 3600], forgottenAfter: { seconds: HOUR, since: 'first' } },
  // Thirty in an hour at most.
  mailing: { freeFailures: 20, delaySeconds: [60, 600], forgottenAfter: { seconds: HOUR, since: 'first' } },
} satisfies Record<string, Limits>

/** A larger network may have more people: each step may do so many times as much as the one below. */
const GROWTH = 4

/** An address and the networks around it: an owner of a network has all of its addresses. */
function subjectsOf(kind: string, address: string, limits: Limits): Subject[] {
  return listNetworks(address).map((network, step) => ({
    ...createSubject(kind + network, limits),
    freeFailures: limits.freeFailures * GROWTH ** step,
  }))
}

/** Guesses at an account from one address. They do not hold up its owner elsewhere. */
export const accountSubjects = (emailKey: string, address: string): Subject[] =>
  subjectsOf(`account ${emailKey}\n`, address, LIMITS.account)

const subjectsAt = (kind: string, limits: Limits) => (address: string) =>
  subjectsOf(`${kind} `, address, limits)

export const addressSubjects = subjectsAt('address', LIMITS.office)
/** Invalid tokens from one address: they do not slow down logins from there. */
export const tokenSubjects = subjectsAt('token', LIMITS.office)
/** Accounts made from one address: they hold up no logins there. */
export const registrationSubjects = subjectsAt('registration', LIMITS.office)
export const takenSubjects = subjectsAt('taken', LIMITS.taken)
export const mailingSubjects = subjectsAt('mailing', LIMITS.mailing)

/** What counts towards a limit, by a name. */
export const subjectNamed = (kind: string, limits: Limits) => (name: string) =>
  createSubject(`${kind} ${name}`, limits)

/** By the key of an e-mail. */
export const everywhereSubject = subjectNamed('everywhere', LIMITS.everywhere)
/** By the key of an e-mail, with or without an account. */
export const mailboxSubject = subjectNamed('mailbox', LIMITS.mailbox)
export const refreshSubject = subjectNamed('refresh', LIMITS.refresh)

/** The table reveals no e-mail and no address. */
function createSubject(text: string, limits: Limits): Subject {
  return { ...limits, hash: createHash('sha256').update(text).digest() }
}

export type Sent<Schema extends TSchema> = FastifyRequest<{ Body: Static<Schema> }>

export const THROTTLED_ERRORS: ErrorCode[] = ['INVALID_PARAMETERS', 'TOO_MANY_REQUESTS']

export type Throttle = ReturnType<typeof createThrottle>

/** Counts failures in the database, which all processes share and whose clock is the only one. */
export function createThrottle(db: Db) {
  return {
    /** @throws {ApiError} TOO_MANY_REQUESTS, with Retry-After, while one of the subjects has to wait */
    async refuseBlocked(subjects: Subject[]): Promise<void> {
      const seconds = await secondsBlocked(db, subjects)
      if (seconds > 0) throw tooMany(seconds)
    },
    async count(subjects: Subject[]): Promise<void> {
      for (const subject of subjects) await recordFailure(db, subject)
    },
    /** Counts a rare operation, or refuses it as `refuseBlocked`; simultaneous requests get no further than others. */
    async admit(subjects: Subject[]): Promise<void> {
      for (const subject of subjects) {
        if (await recordUnlessBlocked(db, subject)) continue
        // The wait may be over by now: it is one second more then.
        throw tooMany(Math.max(1, await secondsBlocked(db, [subject])))
      }
    },
    isOver: (subject: Subject) => hasFailedTooOften(db, subject),
    forget: (subjects: Subject[]) => clearFailures(db, subjects),
  }
}

export function tooMany(seconds: number): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', `Too many attempts; try again in ${seconds} s.`).withHeader(
    'retry-after',
    String(seconds),
  )
}
