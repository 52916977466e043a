import { createHash, randomBytes } from 'node:crypto'

/** 256 bits: nobody guesses one, so a plain hash is enough. */
export const TOKEN_BYTES = 32

export function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url')
}

/** What is stored of a token. */
export function tokenHash(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
