import { createHash, createHmac, randomBytes } from 'node:crypto'
import { TOKEN_BYTES } from './tokens.ts'

/** What the tokens of one session begin with: 128 bits, and as many for each of them. */
const FAMILY_BYTES = TOKEN_BYTES / 2

export function newSuccessorSalt(): Buffer {
  return randomBytes(TOKEN_BYTES)
}

/**
 * The token that follows another, of the same family. Its rest is as random as its salt, and yet the same
 * whenever the same token is shown again: a client that did not get the answer can ask for it once more, and
 * there is never more than one line of tokens. The salt alone, which is all that the database has, does not
 * give it.
 */
export function successorOf(token: string, salt: Buffer): string {
  const rest = createHmac('sha256', salt).update(token).digest().subarray(FAMILY_BYTES)
  return Buffer.concat([familyIn(token), rest]).toString('base64url')
}

/** Exactly as we write them: what else decodes to the same bytes is none of ours, and nobody stole it. */
const REFRESH_TOKEN = /^[A-Za-z0-9_-]{43}$/

/** Whether a text may be a refresh token. */
export function isRefreshToken(text: string): boolean {
  return REFRESH_TOKEN.test(text)
}

/** What is stored of a token's family. By it a token is known whose use was forgotten long ago. */
export function familyHash(token: string): Buffer {
  return createHash('sha256').update(familyIn(token)).digest()
}

function familyIn(token: string): Buffer {
  return Buffer.from(token, 'base64url').subarray(0, FAMILY_BYTES)
}
