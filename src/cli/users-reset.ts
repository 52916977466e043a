import type { Transaction } from 'kysely'
import type { Config } from '#src/config.ts'
import type { Tables } from '#src/database/tables.ts'
import { recordOperation } from '#src/domains/audit/queries.ts'
import { issueToken, usageOf } from '#src/domains/auth/account-tokens.ts'
import { noAccount } from '#src/domains/user/queries.ts'

/** A token that goes through people's hands takes longer than a mail. */
const RESET_HOURS = 24

/** A token to choose a password with, once. */
export interface IssuedReset {
  id: string
  email: string
  token: string
  hours: number
  /** What to do with it. */
  usage: string
}

/** Makes one for an account, and records it. */
export async function issueReset(
  trx: Transaction<Tables>,
  email: string,
  { BASE_PATH, PASSWORD_RESET_URL }: Config,
): Promise<IssuedReset> {
  const issued = await issueToken(trx, email, 'password_reset', RESET_HOURS)
  if (!issued) throw noAccount(email)
  await recordOperation(trx, { kind: 'password_reset_issued', userId: issued.userId })
  const usage = usageOf(issued.token, {
    page: PASSWORD_RESET_URL,
    path: `${BASE_PATH}/auth/password/reset`,
    body: { password: 'the new password' },
  })
  return { id: issued.userId, email: issued.email, token: issued.token, hours: RESET_HOURS, usage }
}

/** @param consequence a sentence on what happens when the token is used */
export function resetText({ email, hours, usage }: IssuedReset, consequence = ''): string {
  return `For ${email}, once, within ${hours} hours.${consequence}\n\n${usage}`
}
