import { createHash } from 'node:crypto'
import { networkOf } from '#src/lib/network.ts'

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

/** SHA-256, so that the table tells nobody who has tried what from where. */
function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
