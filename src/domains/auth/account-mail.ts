import type { Kysely } from 'kysely'
import { SERVICE_NAME } from '#schemas/service.ts'
import type { Config } from '#src/config.ts'
import type { Tables } from '#src/database/tables.ts'
import { emailKey } from '#src/domains/user/queries.ts'
import { ApiError } from '#src/errors.ts'
import type { Mailer } from '#src/lib/mailer.ts'
import type { TokenPurpose } from './account-token-queries.ts'
import { type IssuedToken, issueToken, usageOf } from './account-tokens.ts'
import { mailboxSubject, mailingSubjects } from './subjects.ts'
import type { Throttle } from './throttle.ts'

/** Mails with tokens. No answer waits until it is known whether there is an account, so none tells. */
export interface AccountMail {
  /** @throws {ApiError} TOO_MANY_REQUESTS where too many were asked for, for the e-mail or from the address */
  admit(email: string, address: string): Promise<void>
  /** Writes to an e-mail in the background, if it has an account; false where too many mails wait. */
  write(purpose: TokenPurpose, email: string): boolean
}

/** Nobody's name stands in a mail: it would be a way to write what one likes to whom one likes. */
interface Wording {
  hours: number
  subject: string
  text(issued: IssuedToken): string
}

/** @param mailer undefined where the service sends no mail */
export function createAccountMail(
  db: Kysely<Tables>,
  throttle: Throttle,
  config: Config,
  mailer: Mailer | undefined,
): AccountMail {
  const wordings = wordingsOf(config)

  async function mailTo(email: string, purpose: TokenPurpose) {
    const { hours, subject, text } = wordings[purpose]
    const issued = await issueToken(db, email, purpose, hours)
    if (!issued) return undefined
    const about = { user: issued.userId, mail: purpose }
    return { to: issued.email, subject, text: text(issued), about }
  }

  return {
    async admit(email, address) {
      if (!mailer) throw notConfigured()
      await throttle.admit([...mailingSubjects(address), mailboxSubject(emailKey(email))])
    },
    write: (purpose, email) => mailer?.send(() => mailTo(email, purpose)) ?? false,
  }
}

function wordingsOf(config: Config): Record<TokenPurpose, Wording> {
  const { BASE_PATH, PASSWORD_RESET_URL, EMAIL_CONFIRMATION_URL } = config
  return {
    password_reset: {
      hours: 1,
      subject: `${SERVICE_NAME}: a new password`,
      text: ({ token }) =>
        paragraphs(
          `Somebody, probably you, has forgotten the password of your account with the\n${SERVICE_NAME}. To choose a new one, you have an hour.`,
          usageOf(token, {
            page: PASSWORD_RESET_URL,
            path: `${BASE_PATH}/auth/password/reset`,
            body: { password: 'the new password' },
          }),
          'It works once. All logins end then. If it was not you, you need to do\nnothing: the password stays as it is.',
        ),
    },
    email_confirmation: {
      hours: 24,
      subject: `${SERVICE_NAME}: confirm your e-mail`,
      text: ({ token }) =>
        paragraphs(
          `Somebody, probably you, has made an account with the\n${SERVICE_NAME} for this address. To confirm that it is\nyours, you have a day.`,
          usageOf(token, {
            page: EMAIL_CONFIRMATION_URL,
            path: `${BASE_PATH}/auth/confirm`,
            body: {},
          }),
          'If it was not you, you need to do nothing: nobody can log in to it.',
        ),
    },
  }
}

function paragraphs(...texts: string[]): string {
  return `${texts.join('\n\n')}\n`
}

function notConfigured(): ApiError {
  return new ApiError(
    'MAIL_NOT_CONFIGURED',
    'The service sends no mail: ask its operator, who can give you a token for a new password.',
  )
}
