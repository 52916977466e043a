import { createHash, createHmac, randomBytes } from 'node:crypto'

/** 256 bits: nobody guesses one, so a plain hash is enough. */
const BYTES = 32

export function newRefreshToken(): string {
  return randomBytes(BYTES).toString('base64url')
}

export function newSuccessorSalt(): Buffer {
  return randomBytes(BYTES)
}

/** What is stored of a token. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/**
 * The token that follows another. It is as random as its salt, and yet the same whenever the same token
 * is shown again: a client that did not get the answer can ask for it once more, and there is never more
 * than one line of tokens. The salt alone, which is all that the database has, does not give it.
 */
export function successorOf(token: string, salt: Buffer): string {
  return createHmac('sha256', salt).update(token).digest('base64url')
}
