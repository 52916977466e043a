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
  'List, make and delete accounts, say who is an admin, and help who has forgotten a password.',
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
    'Delete an account with everything that belongs to it, for good, within seconds. Rows of a long history are then deleted in the background by the service.',
  )
  .option(...YES_OPTION)
  .option(...JSON_OPTION)
  .action(async (email: string, options: Output & Consent) => {
    await confirm(`This deletes the account ${email} with its history, sessions and keys, for good`, options)
    await withDatabase(async ({ writer }) => {
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
    'Make an account an admin, within seconds. Nobody has verified that the e-mail is its owner’s: ask first.',
  )
  .option(...JSON_OPTION)
  .action((email: string, output: Output) => changeRole(email, 'admin', output))
withExamples(promote, 'agro users promote amina@example.org')

const demote = usersCommand
  .command('demote <email>')
  .description('Make an account an ordinary one again.')
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
    'Print a one-time token to choose a new password with. Whoever has it gets into the account: ask who asks.',
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
    'Turn the second factor of an account off, for who has lost the app and the recovery codes. Whoever has the password gets in then: ask who asks.',
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
