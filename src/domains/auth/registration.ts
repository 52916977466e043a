import type { Kysely } from 'kysely'
import type { RegisterRequest } from '#schemas/auth.ts'
import type { UserProfile } from '#schemas/user.ts'
import type { Tables } from '#src/database/tables.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { emailKey, insertUser, type NewUser } from '#src/domains/user/queries.ts'
import { ApiError } from '#src/errors.ts'
import { type AccountMail, CONFIRMATION_HOURS } from './account-mail.ts'
import { hashPassword, refuseGuessable } from './passwords.ts'
import { insertRegistration } from './registration-queries.ts'
import { addressSubjects, registrationSubjects, takenSubjects } from './subjects.ts'
import type { Throttle } from './throttle.ts'
import { newToken, tokenHash } from './tokens.ts'
import type { InTurn } from './turns.ts'
import type { Visit } from './visits.ts'

/** Where people get an account. */
export interface RegistrationDesk {
  /**
   * @returns the account; where e-mails are confirmed, the one that there will be then: nothing of the answer
   * tells whether there is one already, only a mail does
   * @throws {ApiError} INVALID_PARAMETERS where the password is easily guessed; EMAIL_TAKEN where no e-mail is
   * confirmed
   */
  register(request: RegisterRequest, visit: Visit): Promise<UserProfile>
}

/** @param confirms whether an e-mail has to be confirmed before there is an account */
export function createRegistrationDesk(
  db: Kysely<Tables>,
  throttle: Throttle,
  inTurn: InTurn,
  mail: AccountMail,
  confirms: boolean,
): RegistrationDesk {
  async function keepUntilConfirmed(user: NewUser, { audit, atDatabase }: Visit): Promise<UserProfile> {
    const token = newToken()
    const profile = await atDatabase(() =>
      inTransaction(db, async (trx) => {
        const kept = await insertRegistration(trx, user, {
          hash: tokenHash(token),
          hours: CONFIRMATION_HOURS,
        })
        await audit(trx, { kind: 'registration_kept', userId: kept.id })
        return kept
      }),
    )
    // Where too many mails wait, the registration is kept all the same, and the mail can be asked for again.
    mail.answerRegistration(profile, token)
    return profile
  }

  async function makeAccount(user: NewUser, { address, audit, atDatabase }: Visit): Promise<UserProfile> {
    const profile = await atDatabase(() =>
      inTransaction(db, async (trx) => {
        const made = await insertUser(trx, user)
        if (made) await audit(trx, { kind: 'account_made', userId: made.id })
        return made
      }),
    )
    if (profile) return profile
    await atDatabase(() => throttle.count(takenSubjects(address)))
    throw new ApiError('EMAIL_TAKEN', 'There is an account with this e-mail: log in.')
  }

  return {
    async register({ email, password, name, organisation = null }, visit) {
      const { address, atDatabase, note } = visit
      await refuseGuessable('password', password, [email, name, organisation])
      if (confirms) await atDatabase(() => mail.admit(email, address))
      // Registrations are counted for themselves: many of them hold up no logins.
      const counted = registrationSubjects(address)
      const subjects = [...counted, ...takenSubjects(address), ...addressSubjects(address)]
      return inTurn(subjects, { account: emailKey(email), visit }, async (inPlace) => {
        // Hashed before anybody looks whether there is an account: who has one is answered no sooner.
        const passwordHash = await inPlace(() => hashPassword(password))
        // Whoever has had a password hashed is counted, also who has gone away meanwhile.
        await note(async () => {
          await throttle.refuseBlocked(subjects)
          await throttle.admit(counted)
        })
        const user = { email, passwordHash, name, organisation }
        return confirms ? keepUntilConfirmed(user, visit) : makeAccount(user, visit)
      })
    },
  }
}
