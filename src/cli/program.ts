import { Command } from 'commander'
import { loadEnvironmentFile } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { auditCommand } from './audit.ts'
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
    'Operates the agricultural advisory service: its database, releases, boundaries, countries, crops and accounts, and the record of what happened to them.',
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
  .addCommand(auditCommand)
  .hook('preAction', () => loadEnvironmentFile())
  .showHelpAfterError()

/**
 * Runs a command of the operator. What is wrong with how it is called ends the process.
 *
 * @param parameters what stands behind `agro`
 * @returns the exit code: 1 where something is the operator's to mend, which a sentence has said
 */
export async function operate(parameters: string[]): Promise<number> {
  try {
    await program.parseAsync(parameters, { from: 'user' })
    return 0
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    console.error(error.message)
    return 1
  }
}
