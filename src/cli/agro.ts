import { Command } from 'commander'
import { OperatorError } from '#src/errors.ts'
import { boundariesCommand } from './boundaries.ts'
import { countriesCommand } from './countries.ts'
import { cropsCommand } from './crops.ts'
import { demoCommand } from './demo.ts'
import { ingestCommand } from './ingest.ts'
import { migrateCommand } from './migrate.ts'
import { releasesCommand } from './releases.ts'
import { usersCommand } from './users.ts'

const program = new Command('agro')
  .description(
    'Operates the agricultural advisory service: its database, releases, boundaries, countries, crops and accounts.',
  )
  .addHelpText(
    'after',
    '\nThe database is the one of DATABASE_URL, or else the embedded one in DATA_DIR (default ./data),\n' +
      'which only one process can use: stop the service first.',
  )
  .addCommand(migrateCommand)
  .addCommand(ingestCommand)
  .addCommand(releasesCommand)
  .addCommand(boundariesCommand)
  .addCommand(countriesCommand)
  .addCommand(cropsCommand)
  .addCommand(demoCommand)
  .addCommand(usersCommand)
  .showHelpAfterError()

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof OperatorError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
