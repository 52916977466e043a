import { hashPassword } from '#src/accounts/credentials.ts'
import { insertUser, setRole } from '#src/accounts/user-queries.ts'
import type { Database } from '#src/data/database.ts'
import { tokenIn } from '#test/accounts/mails.ts'
import { type MailServer, startMailServer } from '#test/setup/mail-server.ts'
import type { Account, NextToken } from './callers.ts'

/** A mail server for a service to be fuzzed. */
export interface Mails {
  /** What makes real state of every sort possible. */
  settings: Record<string, string>
  nextToken: NextToken
  close: MailServer['close']
}

export async function startMails(): Promise<Mails> {
  const mailServer = await startMailServer()
  return {
    settings: {
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'noreply@example.org',
      EMAIL_CONFIRMATION: 'required',
      // Every case comes from an address of its own: what slows down one that guesses would end the run.
      TRUSTED_PROXIES: '127.0.0.1',
    },
    async nextToken(email) {
      for (;;) {
        const mail = await mailServer.next()
        if (mail.to.includes(email)) return tokenIn(mail)
      }
    },
    close: () => mailServer.close(),
  }
}

/** The admin of a service that is about to be fuzzed. */
export const ADMIN_ACCOUNT: Account = { email: 'admin@example.org', password: 'sorghum sleeps in the rain' }

/** Makes the account of the admin, as an operator does. */
export async function addAdmin({ writer }: Database): Promise<void> {
  const { email, password } = ADMIN_ACCOUNT
  const passwordHash = await hashPassword(password)
  await insertUser(writer, { email, passwordHash, name: 'Admin', organisation: null })
  await setRole(writer, email, 'admin')
}
