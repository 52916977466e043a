import { createHash } from 'node:crypto'
import { networkOf } from '#src/lib/network.ts'

/**
 * Somebody whose failures are counted. After the free ones each failure doubles the delay, from the
 * first to the longest; it never becomes a lock-out, because all is forgotten after a while.
 */
export interface Subject {
  hash: Buffer
  freeFailures: number
  firstDelaySeconds: number
  longestDelaySeconds: number
  /** Forgotten so long after the last failure, or after the first, whatever comes in between. */
  forgottenAfter: { seconds: number; since: 'first' | 'last' }
}

/** Guesses at one account from one address. Its owner, at another address, is not held up by them. */
export function accountSubject(emailKey: string, address: string): Subject {
  return {
    hash: hashOf(`account ${emailKey}\n${networkOf(address)}`),
    freeFailures: 5,
    firstDelaySeconds: 1,
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

/**
 * The mails that an e-mail is sent, whoever asks for them and whether or not it has an account: seven in an
 * hour at most. Who asks in somebody else's name keeps nobody out: each of them has a token that works.
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
export function mailingSubject(address: string): Subject {
  return {
    hash: hashOf(`mailing ${networkOf(address)}`),
    freeFailures: 20,
    firstDelaySeconds: 60,
    longestDelaySeconds: 600,
    forgottenAfter: { seconds: 3600, since: 'first' },
  }
}

function networkSubject(kind: string, address: string): Subject {
  return {
    hash: hashOf(`${kind} ${networkOf(address)}`),
    freeFailures: 100,
    firstDelaySeconds: 1,
    longestDelaySeconds: 60,
    forgottenAfter: { seconds: 600, since: 'first' },
  }
}

/** SHA-256, so that the table tells nobody who has tried what from where. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
