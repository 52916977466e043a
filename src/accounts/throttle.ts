import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { Audit } from '#src/http/plugins/audit.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { listNetworks } from '#src/lib/network.ts'
import {
  clearFailures,
  deleteOldFailures,
  hasFailedTooOften,
  recordFailure,
  recordUnlessBlocked,
  type Subject,
  secondsBlocked,
} from './queries.ts'

/** A larger network may have more people in it: each step is allowed so many times as much as the one below. */
const GROWTH = 4

/**
 * Guesses at one account from one address, and from the networks around it. Its owner, elsewhere, is not held up
 * by them.
 */
export function accountSubjects(emailKey: string, address: string): Subject[] {
  return subjectsOf(`account ${emailKey}\n`, address, {
    freeFailures: 5,
    firstDelaySeconds: 1,
    longestDelaySeconds: 900,
    forgottenAfter: { seconds: 3600, since: 'last' },
  })
}

/**
 * Guesses at one account from everywhere together. They are only slowed down (see the credential service): who
 * makes them must not be able to keep the owner out.
 */
export function everywhereSubject(emailKey: string): Subject {
  return {
    hash: hashOf(`everywhere ${emailKey}`),
    freeFailures: 100,
    firstDelaySeconds: 0,
    longestDelaySeconds: 0,
    forgottenAfter: { seconds: 3600, since: 'first' },
  }
}

/** Passwords that are wrong, from one address. There may be a whole office behind it: it starts afresh soon. */
export function addressSubjects(address: string): Subject[] {
  return subjectsOf('address ', address, OF_AN_OFFICE)
}

/** Invalid tokens from one address: they do not slow down logins from there. */
export function tokenSubjects(address: string): Subject[] {
  return subjectsOf('token ', address, OF_AN_OFFICE)
}

/** How often one session is continued: clients do so every few minutes, several tabs at once. */
export function refreshSubject(sessionId: string): Subject {
  return {
    hash: hashOf(`refresh ${sessionId}`),
    freeFailures: 60,
    firstDelaySeconds: 1,
    longestDelaySeconds: 60,
    forgottenAfter: { seconds: 600, since: 'first' },
  }
}

/**
 * Codes of the second factor of one account, from wherever: there are a million, so what counts is how many are
 * tried. Who tries them knows the password. The owner, who may have to wait as well, gets in by a recovery code.
 */
export function codeSubject(userId: string): Subject {
  return {
    hash: hashOf(`code ${userId}`),
    freeFailures: 5,
    firstDelaySeconds: 1,
    longestDelaySeconds: 900,
    forgottenAfter: { seconds: 3600, since: 'last' },
  }
}

/** The accounts that are made from one address, however many, hold up no logins there. */
export function registrationSubjects(address: string): Subject[] {
  return subjectsOf('registration ', address, OF_AN_OFFICE)
}

/**
 * Registrations that were told of an account: twenty in an hour are free, for people who have forgotten that they
 * have one. Who asks for whole lists waits.
 */
export function takenSubjects(address: string): Subject[] {
  return subjectsOf('taken ', address, {
    freeFailures: 20,
    firstDelaySeconds: 5,
    longestDelaySeconds: 300,
    forgottenAfter: { seconds: 3600, since: 'first' },
  })
}

/**
 * The mails to an address, with or without an account: seven in an hour at most. Requests in another's name shut
 * no owner out: each mail has a token that works.
 */
export function mailboxSubject(emailKey: string): Subject {
  return {
    hash: hashOf(`mailbox ${emailKey}`),
    freeFailures: 3,
    firstDelaySeconds: 300,
    longestDelaySeconds: 3600,
    forgottenAfter: { seconds: 3600, since: 'first' },
  }
}

/** The mails that one address asks for, to whomever: thirty in an hour at most. */
export function mailingSubjects(address: string): Subject[] {
  return subjectsOf('mailing ', address, {
    freeFailures: 20,
    firstDelaySeconds: 60,
    longestDelaySeconds: 600,
    forgottenAfter: { seconds: 3600, since: 'first' },
  })
}

/**
 * Test deliveries of webhooks: of one account two at once, then one in ten seconds; at one host, of all accounts, one a
 * second beyond sixty in ten minutes.
 */
export function webhookTestSubjects(userId: string, host: string): Subject[] {
  const forgottenAfter = { seconds: 600, since: 'first' } as const
  return [
    {
      hash: hashOf(`webhook test ${userId}`),
      freeFailures: 1,
      firstDelaySeconds: 10,
      longestDelaySeconds: 10,
      forgottenAfter,
    },
    {
      hash: hashOf(`webhook test at ${host}`),
      freeFailures: 60,
      firstDelaySeconds: 1,
      longestDelaySeconds: 1,
      forgottenAfter,
    },
  ]
}

const OF_AN_OFFICE: Limits = {
  freeFailures: 100,
  firstDelaySeconds: 1,
  longestDelaySeconds: 60,
  forgottenAfter: { seconds: 600, since: 'first' },
}

type Limits = Omit<Subject, 'hash'>

/** An address and the networks around it: an owner of a network has all of its addresses. */
function subjectsOf(kind: string, address: string, limits: Limits): Subject[] {
  return listNetworks(address).map((network, step) => ({
    ...limits,
    hash: hashOf(`${kind}${network}`),
    freeFailures: limits.freeFailures * GROWTH ** step,
  }))
}

/** SHA-256, so that the table reveals no e-mail and no address. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** A request as the desks see it: where it comes from, and how what comes of it is recorded. */
export interface AccountRequest {
  address: string
  audit: Audit
  /**
   * Does work that asks the database when the turn of the request has come. No password is hashed within: a place
   * at the database would be held by requests that wait for a hash.
   */
  atDatabase<Result>(work: () => Promise<Result>): Promise<Result>
  /** Notes at the database what has come of it, though its client may have gone away; waits as long as it may. */
  note(work: () => Promise<void>): Promise<void>
}

/** For routes that see to turns at the database by themselves. */
export function makeContext(
  { inTurn, noteInTurn }: App,
  request: FastifyRequest,
  reply: FastifyReply,
): AccountRequest {
  return {
    address: request.ip,
    audit: (db, event) => withTimeout(request, reply, () => request.audit(db, event)),
    atDatabase: (work) => inTurn(request, reply, work),
    note: (work) => withTimeout(request, reply, () => noteInTurn(request, work)),
  }
}

export interface Throttle {
  /** @throws {ApiError} TOO_MANY_REQUESTS, with Retry-After, while one of the subjects has to wait */
  refuseBlocked(subjects: Subject[]): Promise<void>
  /** Counts a failure, or any use of a rare operation. */
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
