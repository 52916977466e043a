import type { Kysely } from 'kysely'
import { TOKEN_PLACE } from '#src/config.ts'
import type { Tables } from '#src/database/tables.ts'
import { putAccountToken, type TokenPurpose } from './account-token-queries.ts'
import { newToken, tokenHash } from './tokens.ts'

/** A token that was made for an account. */
export interface IssuedToken {
  token: string
  userId: string
  /** Where its owner reads. */
  email: string
}

/**
 * Makes a token for the account with an e-mail; an older one for the same purpose ends.
 *
 * @returns undefined where there is no such account, or nothing to confirm
 */
export async function issueToken(
  db: Kysely<Tables>,
  email: string,
  purpose: TokenPurpose,
  hours: number,
): Promise<IssuedToken | undefined> {
  const token = newToken()
  const account = await putAccountToken(db, email, { purpose, hash: tokenHash(token), seconds: hours * 3600 })
  return account && { token, userId: account.id, email: account.email }
}

/**
 * What to do with a token: open the page of the app, where there is one, or else send a request.
 *
 * @param page the URL of the page, with the place for the token in it
 */
export function usageOf(
  token: string,
  { page, path, body }: { page: string | undefined; path: string; body: Record<string, string> },
): string {
  if (page !== undefined) return `Open this page:\n\n${page.replaceAll(TOKEN_PLACE, token)}`
  // On lines of their own, so that mails need not break them.
  return `Send this to POST ${path}, as JSON:\n\n${JSON.stringify({ token, ...body }, null, 2)}`
}
