import { Command } from 'commander'
import { grantService } from '#src/database/rights.ts'
import { lookInDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'

export const grantsCommand = new Command('grants')
  .description(
    'Grant a role the rights of the service: read and write rows, change no table. Run as the owner of the schema, after `agro migrate`.',
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
