import { Command } from 'commander'
import type { Role } from '#schemas/user.ts'
import { loadConfig } from '#src/config.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { recordOperation } from '#src/domains/audit/queries.ts'
import { deleteTwoFactor } from '#src/domains/auth/two-factor-queries.ts'
import { deleteUser, findCredentials, listUsers, noAccount, setRole } from '#src/domains/user/queries.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { whileShown } from './progress.ts'
import { table } from './table.ts'
import { type Consent, confirm, YES_OPTION } from './terminal.ts'
import { createCommand } from './users-create.ts'
import { issueReset, resetText } from './users-reset.ts'

export const usersCommand = new Command('users').description(
  'List, create and delete accounts, set roles, and reset passwords.',
)

const list = usersCommand
  .command('list')
  .description('List all accounts with their roles.')
  .option(...JSON_OPTION)
  .action((output: Output) =>
    lookInDatabase(async ({ writer }) => {
      const users = await listUsers(writer)
      const rows = users.map(({ email, email_confirmed, role, name, created_at }) => [
        email,
        email_confirmed ? 'yes' : 'no',
        role,
        created_at.slice(0, 10),
        name,
      ])
      const text = table(['EMAIL', 'CONFIRMED', 'ROLE', 'SINCE', 'NAME'], rows)
      print(output, users, users.length === 0 ? 'There are no accounts.' : text)
    }),
  )
withExamples(list, 'agro users list', 'agro users list --json')

usersCommand.addCommand(createCommand)

const remove = usersCommand
  .command('delete <email>')
  .description(
    'Delete an account and all its data for good. The service deletes the rows of a long history in the background.',
  )
  .option(...YES_OPTION)
  .option(...JSON_OPTION)
  .action(async (email: string, options: Output & Consent) => {
    await withDatabase(async ({ writer }) => {
      if (!(await findCredentials(writer, email))) throw noAccount(email)
      await confirm(
        `This deletes the account ${email} with its history, sessions and keys, for good`,
        options,
      )
      const deletion = inTransaction(writer, async (trx) => {
        const account = await findCredentials(trx, email)
        if (!account) throw noAccount(email)
        const removed = await deleteUser(trx, account.id)
        await recordOperation(trx, { kind: 'account_deleted', userId: account.id })
        return { id: account.id, email: account.email, removed }
      })
      const deleted = await whileShown(`deleting ${email}`, deletion)
      const counts = Object.entries(deleted.removed).map(([what, count]) => `${what} ${count}`)
      print(options, deleted, `${deleted.email} is deleted: ${counts.join(', ')}.`)
    })
  })
withExamples(remove, 'agro users delete amina@example.org', 'agro users delete amina@example.org --yes')

const promote = usersCommand
  .command('promote <email>')
  .description(
    'Grant admin rights, within seconds. The service has not verified who owns the e-mail: ask first.',
  )
  .option(...JSON_OPTION)
  .action((email: string, output: Output) => changeRole(email, 'admin', output))
withExamples(promote, 'agro users promote amina@example.org')

const demote = usersCommand
  .command('demote <email>')
  .description('Revoke admin rights.')
  .option(...JSON_OPTION)
  .action((email: string, output: Output) => changeRole(email, 'user', output))
withExamples(demote, 'agro users demote amina@example.org')

function changeRole(email: string, role: Role, output: Output): Promise<void> {
  return withDatabase(async ({ writer }) => {
    const id = await inTransaction(writer, async (trx) => {
      const userId = await setRole(trx, email, role)
      await recordOperation(trx, { kind: 'role_changed', userId, detail: { role } })
      return userId
    })
    print(output, { id, email, role }, `${email} has the role ${role}.`)
  })
}

const reset = usersCommand
  .command('reset <email>')
  .description(
    'Print a one-time token for a new password. The token opens the account: verify the caller first.',
  )
  .option(...JSON_OPTION)
  .action((email: string, output: Output) =>
    withDatabase(async ({ writer }) => {
      const config = loadConfig()
      const issued = await inTransaction(writer, (trx) => issueReset(trx, email, config))
      print(output, issued, resetText(issued, ' All its sessions end then.'))
    }),
  )
withExamples(reset, 'agro users reset amina@example.org')

const resetSecondFactor = usersCommand
  .command('reset-2fa <email>')
  .description(
    'Turn off the second factor of an account whose owner lost the app and the recovery codes. The password alone opens the account then: verify the caller first.',
  )
  .option(...JSON_OPTION)
  .action((email: string, output: Output) =>
    withDatabase(async ({ writer }) => {
      const account = await findCredentials(writer, email)
      if (!account) throw noAccount(email)
      const userId = account.id
      const found = await inTransaction(writer, async (trx) => {
        const deleted = await deleteTwoFactor(trx, userId)
        if (deleted) await recordOperation(trx, { kind: 'two_factor_reset', userId })
        return deleted
      })
      print(
        output,
        { id: userId, email: account.email, had_second_factor: found },
        found ? `${email} logs in with the password alone.` : `${email} has no second factor.`,
      )
    }),
  )
withExamples(resetSecondFactor, 'agro users reset-2fa amina@example.org')
