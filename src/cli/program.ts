import { Command, CommanderError } from 'commander'
import { loadEnvironmentFile } from '#src/config.ts'
import { isDatabaseUnavailable, isDiskFull } from '#src/database/failures.ts'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { VERSION } from '#src/lib/version.ts'
import { auditCommand } from './audit.ts'
import { boundariesCommand } from './boundaries.ts'
import { countriesCommand } from './countries.ts'
import { cropsCommand } from './crops.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor/index.ts'
import { EXIT, ExitWith } from './exit.ts'
import { exportCommand } from './export.ts'
import { grantsCommand } from './grants.ts'
import { importCommand } from './import.ts'
import { ingestCommand } from './ingest.ts'
import { migrateCommand } from './migrate.ts'
import { rangesCommand } from './ranges.ts'
import { releasesCommand } from './releases.ts'
import { usersCommand } from './users.ts'

/** The operator's command line, as it is described and parsed. */
export const program = new Command('agro')
  .description(
    'Operates the agricultural advisory service: its health, database, releases, boundaries, countries, crops, plausible values and accounts, and the record of what happened to them.',
  )
  .version(VERSION, '-V, --version', 'print the version of the service')
  .option('--verbose', 'show where an unexpected error comes from')
  .addHelpText(
    'after',
    `
The database is the one of DATABASE_URL, or else the embedded one in DATA_DIR (default ./data),
which only one process can use: stop the service first.

What a command tells goes to stdout, as JSON with --json; progress, notes and errors go to stderr.

Exit codes:
  ${EXIT.done}    done
  ${EXIT.refused}    not done: a sentence says what to mend
  ${EXIT.usage}    the command was called wrongly
  ${EXIT.unexpected}   an unexpected error, a mistake of ours
  ${EXIT.interrupted}  ended by Ctrl-C, once what it had begun is undone
Those of \`agro doctor\` are its own.`,
  )
  .addCommand(doctorCommand)
  .addCommand(migrateCommand)
  .addCommand(grantsCommand)
  .addCommand(ingestCommand)
  .addCommand(releasesCommand)
  .addCommand(boundariesCommand)
  .addCommand(countriesCommand)
  .addCommand(cropsCommand)
  .addCommand(rangesCommand)
  .addCommand(demoCommand)
  .addCommand(usersCommand)
  .addCommand(auditCommand)
  .addCommand(exportCommand)
  .addCommand(importCommand)
  .hook('preAction', (_program, command) => {
    // The doctor says itself what is wrong with the settings, beside the rest.
    if (command !== doctorCommand) loadEnvironmentFile()
  })

for (const command of commandsBelow(program)) command.exitOverride().showHelpAfterError()

/** A command and all that stand below it. */
export function commandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsBelow)]
}

/**
 * Runs a command of the operator.
 *
 * @param parameters what stands behind `agro`
 * @returns the exit code
 */
export async function operate(parameters: string[]): Promise<number> {
  try {
    await program.parseAsync(parameters, { from: 'user' })
    return EXIT.done
  } catch (error) {
    if (error instanceof ExitWith) return error.code
    // Commander has said what is wrong; of the help and the version it makes an error as well.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    if (error instanceof OperatorError) {
      console.error(error.message)
      return EXIT.refused
    }
    if (isDatabaseUnavailable(error)) {
      console.error(
        isDiskFull(error)
          ? `The disk of the database is full: ${error.message}. Nothing was changed; make room there, and do it again.`
          : `The database went away: ${error.message}.`,
      )
      return EXIT.refused
    }
    console.error(unexpectedText(error))
    return EXIT.unexpected
  }
}

/** One line; where it comes from is for those who ask. */
function unexpectedText(error: unknown): string {
  const isAsked = program.opts().verbose || process.env.DEBUG
  if (isAsked && error instanceof Error) return error.stack ?? error.message
  const [line] = messageOf(error).split('\n')
  return `Unexpected error: ${line} (--verbose shows where it comes from).`
}
