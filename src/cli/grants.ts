import { Command } from 'commander'
import { grantService } from '#src/database/rights.ts'
import { lookInDatabase } from './database.ts'

export const grantsCommand = new Command('grants')
  .description(
    'Give a role what the service needs of the schema: to read and write rows, and to change no table. To be run as the owner of the schema, after `agro migrate`.',
  )
  .argument('<role>', 'the role that the service connects as')
  .action((role: string) =>
    lookInDatabase(async ({ writer }) => {
      await grantService(writer, role)
      console.log(`${role} has the rights that the service needs.`)
    }),
  )
