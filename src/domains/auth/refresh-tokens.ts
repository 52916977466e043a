import { createHmac, randomBytes } from 'node:crypto'
import { TOKEN_BYTES } from './tokens.ts'

export function newSuccessorSalt(): Buffer {
  return randomBytes(TOKEN_BYTES)
}

/**
 * The token that follows another. It is as random as its salt, and yet the same whenever the same token
 * is shown again: a client that did not get the answer can ask for it once more, and there is never more
 * than one line of tokens. The salt alone, which is all that the database has, does not give it.
 */
export function successorOf(token: string, salt: Buffer): string {
  return createHmac('sha256', salt).update(token).digest('base64url')
}
