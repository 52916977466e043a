import { Command } from 'commander'
import type { Role } from '#schemas/user.ts'
import { loadConfig } from '#src/config.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { recordOperation } from '#src/domains/audit/queries.ts'
import { issueToken, usageOf } from '#src/domains/auth/account-tokens.ts'
import { deleteTwoFactor } from '#src/domains/auth/two-factor-queries.ts'
import { findCredentials, listUsers, noAccount, setRole } from '#src/domains/user/queries.ts'
import { withDatabase } from './database.ts'
import { table } from './table.ts'

export const usersCommand = new Command('users').description(
  'List accounts, say who is an admin, and help who has forgotten a password.',
)

usersCommand
  .command('list')
  .description('List all accounts with their roles.')
  .action(() =>
    withDatabase(async ({ writer }) => {
      const users = await listUsers(writer)
      if (users.length === 0) return console.log('There are no accounts.')
      const rows = users.map(({ email, email_confirmed, role, name, created_at }) => [
        email,
        email_confirmed ? 'yes' : 'no',
        role,
        created_at.slice(0, 10),
        name,
      ])
      console.log(table(['EMAIL', 'CONFIRMED', 'ROLE', 'SINCE', 'NAME'], rows))
    }),
  )

usersCommand
  .command('promote <email>')
  .description(
    'Make an account an admin, within seconds. Nobody has verified that the e-mail is its owner’s: ask first.',
  )
  .action((email: string) => changeRole(email, 'admin'))

usersCommand
  .command('demote <email>')
  .description('Make an account an ordinary one again.')
  .action((email: string) => changeRole(email, 'user'))

function changeRole(email: string, role: Role): Promise<void> {
  return withDatabase(async ({ writer }) => {
    await inTransaction(writer, async (trx) => {
      const userId = await setRole(trx, email, role)
      await recordOperation(trx, { kind: 'role_changed', userId, detail: { role } })
    })
    console.log(`${email} has the role ${role}.`)
  })
}

/** A token that goes through people's hands takes longer than a mail. */
const RESET_HOURS = 24

usersCommand
  .command('reset <email>')
  .description(
    'Print a one-time token to choose a new password with. Whoever has it gets into the account: ask who asks.',
  )
  .action((email: string) =>
    withDatabase(async ({ writer }) => {
      const { BASE_PATH, PASSWORD_RESET_URL } = loadConfig()
      const issued = await inTransaction(writer, async (trx) => {
        const token = await issueToken(trx, email, 'password_reset', RESET_HOURS)
        if (!token) throw noAccount(email)
        await recordOperation(trx, { kind: 'password_reset_issued', userId: token.userId })
        return token
      })
      const usage = usageOf(issued.token, {
        page: PASSWORD_RESET_URL,
        path: `${BASE_PATH}/auth/password/reset`,
        body: { password: 'the new password' },
      })
      console.log(
        `For ${issued.email}, once, within ${RESET_HOURS} hours. All its sessions end then.\n\n${usage}`,
      )
    }),
  )

usersCommand
  .command('reset-2fa <email>')
  .description(
    'Turn the second factor of an account off, for who has lost the app and the recovery codes. Whoever has the password gets in then: ask who asks.',
  )
  .action((email: string) =>
    withDatabase(async ({ writer }) => {
      const account = await findCredentials(writer, email)
      if (!account) throw noAccount(email)
      const userId = account.id
      const found = await inTransaction(writer, async (trx) => {
        const deleted = await deleteTwoFactor(trx, userId)
        if (deleted) await recordOperation(trx, { kind: 'two_factor_reset', userId })
        return deleted
      })
      console.log(found ? `${email} logs in with the password alone.` : `${email} has no second factor.`)
    }),
  )
