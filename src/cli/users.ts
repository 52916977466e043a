import { Command } from 'commander'
import type { Role } from '#schemas/user.ts'
import { listUsers, setRole } from '#src/domains/user/queries.ts'
import { withDatabase } from './database.ts'
import { table } from './table.ts'

export const usersCommand = new Command('users').description('List accounts, and say who is an admin.')

usersCommand
  .command('list')
  .description('List all accounts with their roles.')
  .action(() =>
    withDatabase(async ({ writer }) => {
      const users = await listUsers(writer)
      if (users.length === 0) return console.log('There are no accounts.')
      const rows = users.map(({ email, role, name, created_at }) => [
        email,
        role,
        created_at.slice(0, 10),
        name,
      ])
      console.log(table(['EMAIL', 'ROLE', 'SINCE', 'NAME'], rows))
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
    await setRole(writer, email, role)
    console.log(`${email} has the role ${role}.`)
  })
}
