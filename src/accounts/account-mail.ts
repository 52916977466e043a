import { SERVICE_NAME } from '#schemas/service.ts'
import { type Config, TOKEN_PLACE } from '#src/config.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError } from '#src/errors.ts'
import type { Mail, Mailer } from './mailer.ts'
import { mailboxSubject, mailingSubjects, type Throttle } from './throttle.ts'
import {
  countRegistrations,
  newToken,
  putAccountToken,
  renewRegistration,
  type TokenPurpose,
  tokenHash,
} from './token-queries.ts'
import { emailKey, findCredentials } from './user-queries.ts'

/** Makes a token for an account, which ends an older one; undefined without an account, or without need. */
export async function issueToken(db: Db, email: string, purpose: TokenPurpose, hours: number) {
  const token = newToken()
  const account = await putAccountToken(db, email, { purpose, hash: tokenHash(token), seconds: hours * 3600 })
  return account && { token, userId: account.id, email: account.email }
}

/** @param page URL in which TOKEN_PLACE stands for the token; without one the text shows a request */
export function describeTokenUse(
  token: string,
  { page, path, body }: { page: string | undefined; path: string; body: Record<string, string> },
): string {
  if (page !== undefined) return `Open this page:\n\n${page.replaceAll(TOKEN_PLACE, token)}`
  // On lines of their own, so that mails need not break them.
  return `Send this to POST ${path}, as JSON:\n\n${JSON.stringify({ token, ...body }, null, 2)}`
}

export type AccountMail = ReturnType<typeof createAccountMail>

interface Registration {
  id: string
  email: string
}

export const CONFIRMATION_HOURS = 24

/** A mail has no name in it: a name would carry any text to any address. */
interface Wording {
  hours: number
  subject: string
  text(issued: { token: string }): string
}

/** Mails with tokens. No answer waits for a look at accounts, so none reveals them. */
export function createAccountMail(db: Db, throttle: Throttle, config: Config, mailer: Mailer | undefined) {
  const wordings = wordingsOf(config)

  async function registrationMail({ id, email }: Registration, token: string): Promise<Mail> {
    // Both queries in any case: the time of a mail must reveal nothing.
    const several = (await countRegistrations(db, email)) > 1
    const account = await findCredentials(db, email)
    if (account) {
      const about = { user: account.id, mail: 'account_exists' }
      return { to: account.email, ...accountExists(config), about }
    }
    // Of several only the owner of the e-mail knows which one counts: the password names it.
    const { subject, text } = several ? wordings.several : wordings.email_confirmation
    return {
      to: email,
      subject,
      text: text({ token }),
      about: { registration: id, mail: 'email_confirmation' },
    }
  }

  async function renewedRegistrationMail(email: string): Promise<Mail | undefined> {
    const token = newToken()
    const confirmation = { hash: tokenHash(token), hours: CONFIRMATION_HOURS }
    const registration = await renewRegistration(db, email, confirmation)
    return registration && registrationMail(registration, token)
  }

  async function mailTo(email: string, purpose: TokenPurpose): Promise<Mail | undefined> {
    const renewed = purpose === 'email_confirmation' && (await renewedRegistrationMail(email))
    if (renewed) return renewed
    const { hours, subject, text } = wordings[purpose]
    const issued = await issueToken(db, email, purpose, hours)
    if (!issued) return undefined
    const about = { user: issued.userId, mail: purpose }
    return { to: issued.email, subject, text: text(issued), about }
  }

  return {
    /** @throws {ApiError} TOO_MANY_REQUESTS for the e-mail or the address; MAIL_NOT_CONFIGURED */
    async admit(email: string, address: string): Promise<void> {
      if (!mailer) throw new ApiError('MAIL_NOT_CONFIGURED')
      await throttle.admit([...mailingSubjects(address), mailboxSubject(emailKey(email))])
    },
    /** Mails the token, or that the account exists already, in the background; false where too many mails wait. */
    answerRegistration: (registration: Registration, token: string): boolean =>
      mailer?.send(() => registrationMail(registration, token)) ?? false,
    /** The same for an e-mail, which may have no account. */
    write: (purpose: TokenPurpose, email: string): boolean =>
      mailer?.send(() => mailTo(email, purpose)) ?? false,
  }
}

function wordingsOf(config: Config): Record<TokenPurpose | 'several', Wording> {
  const { BASE_PATH, PASSWORD_RESET_URL } = config
  return {
    password_reset: {
      hours: 1,
      subject: `${SERVICE_NAME}: a new password`,
      text: ({ token }) =>
        paragraphs(
          `We received a request to reset the password of your account with the\n${SERVICE_NAME}. The request is valid for an hour.`,
          describeTokenUse(token, {
            page: PASSWORD_RESET_URL,
            path: `${BASE_PATH}/auth/password/reset`,
            body: { password: 'the new password' },
          }),
          'It works once. All logins end then. If it was not you, you need to do\nnothing: the password stays as it is.',
        ),
    },
    email_confirmation: confirmationWording(config, {}),
    several: confirmationWording(
      config,
      { password: 'the password of your registration' },
      'This address has been registered more than once. Which one counts is said by\nits password, so that no other person can choose yours.',
    ),
  }
}

function confirmationWording(
  { BASE_PATH, EMAIL_CONFIRMATION }: Config,
  body: Record<string, string>,
  ...notes: string[]
): Wording {
  const page = EMAIL_CONFIRMATION === 'required' ? undefined : EMAIL_CONFIRMATION
  return {
    hours: CONFIRMATION_HOURS,
    subject: `${SERVICE_NAME}: confirm your e-mail`,
    text: ({ token }) =>
      paragraphs(
        `Somebody, probably you, has made an account with the\n${SERVICE_NAME} for this address. To confirm that it is\nyours, you have a day.`,
        describeTokenUse(token, { page, path: `${BASE_PATH}/auth/confirm`, body }),
        ...notes,
        'If it was not you, do nothing: the account stays closed.',
      ),
  }
}

function accountExists({ BASE_PATH }: Config): { subject: string; text: string } {
  return {
    subject: `${SERVICE_NAME}: you have an account`,
    text: paragraphs(
      `Somebody, probably you, has registered this address with the\n${SERVICE_NAME}. It has an account there already, which\nis as it was: log in. If you have forgotten the password, ask for another with\nPOST ${BASE_PATH}/auth/password/forgot.`,
      'If it was not you, you need to do nothing.',
    ),
  }
}

function paragraphs(...texts: string[]): string {
  return `${texts.join('\n\n')}\n`
}
