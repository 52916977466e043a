import { Command } from 'commander'
import { grantService } from '#src/database/rights.ts'
import { lookInDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'

export const grantsCommand = new Command('grants')
  .description(
    'Give a role what the service needs of the schema: to read and write rows, and to change no table. To be run as the owner of the schema, after `agro migrate`.',
  )
  .argument('<role>', 'the role that the service connects as')
  .option(...JSON_OPTION)
  .action((role: string, output: Output) =>
    lookInDatabase(async ({ writer }) => {
      await grantService(writer, role)
      print(output, { role }, `${role} has the rights that the service needs.`)
    }),
  )
withExamples(grantsCommand, 'agro grants agro_service')
