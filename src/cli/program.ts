import { Command, CommanderError } from 'commander'
import { listExtensionsThatAreOn, loadEnvironmentFile } from '#src/config.ts'
import { isDatabaseUnavailable, isDiskFull, StorageUnavailable } from '#src/data/failures.ts'
import { type OperatorCode, OperatorError } from '#src/errors.ts'
import type { Extension } from '#src/extensions/extension.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { formatError } from '#src/lib/promises.ts'
import { VERSION } from '#src/lib/version.ts'
import { EXIT, ExitWith } from './terminal.ts'

/** In the order of the help. Commands are imported on demand, for a quick start. */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ['migrate', async () => (await import('./database-commands.ts')).migrateCommand],
  ['grants', async () => (await import('./database-commands.ts')).grantsCommand],
  ['ingest', async () => (await import('./ingest.ts')).ingestCommand],
  ['releases', async () => (await import('./releases.ts')).releasesCommand],
  ['boundaries', async () => (await import('./boundaries.ts')).boundariesCommand],
  ['demo', async () => (await import('./database-commands.ts')).demoCommand],
  ['users', async () => (await import('./users.ts')).usersCommand],
  ['audit', async () => (await import('./audit.ts')).auditCommand],
])

/** The extensions that are on; all, with the reason, where the settings cannot be read: a command refuses these itself. */
function findExtensions(): { on: readonly Extension[]; unreadable?: string } {
  try {
    loadEnvironmentFile()
    const on = listExtensionsThatAreOn(process.env)
    return { on: EXTENSIONS.filter(({ name }) => on.includes(name)) }
  } catch (error) {
    return { on: EXTENSIONS, unreadable: formatError(error).replace(/\.$/, '') }
  }
}

/** @param called the only command to load */
export async function createProgram(called?: string): Promise<Command> {
  const all = new Map(COMMANDS)
  const { on, unreadable } = findExtensions()
  for (const extension of EXTENSIONS) {
    for (const [path, load] of Object.entries(extension.commands ?? {}))
      all.set(
        path,
        on.includes(extension) ? () => load(on) : async () => createSwitchedOff(path, extension.name),
      )
  }
  const names = [...all.keys()]
  const wanted = names.filter((name) => !names.includes(called ?? '') || name.split(' ')[0] === called)
  const commands = await Promise.all(wanted.map((name) => all.get(name)?.()))
  const program = describedProgram()
  if (unreadable) program.addHelpText('after', `\nCommands of all extensions are shown, for ${unreadable}.`)
  for (const [at, command] of commands.entries()) {
    const [group, below] = (wanted[at] as string).split(' ')
    const parent = below ? program.commands.find((one) => one.name() === group) : program
    // Groups outlive a program.
    const isThere = parent?.commands.some((one) => one.name() === command?.name())
    if (command && !isThere) parent?.addCommand(command, { hidden: command.description() === '' })
  }
  for (const command of commandsBelow(program)) command.exitOverride().showHelpAfterError()
  return program
}

/** Says why the command is not there. The help has those with a description. */
function createSwitchedOff(path: string, extension: string): Command {
  const sentence = `agro ${path} is a command of the extension ${extension}, which is off: leave -${extension} out of EXTENSIONS.`
  const command = new Command(path.split(' ').at(-1)).helpOption(false)
  return command
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      throw new OperatorError(sentence, { code: 'USAGE' })
    })
}

function describedProgram(): Command {
  return new Command('agro')
    .description(
      'Operate the agricultural advisory service: health, database, releases, boundaries, countries, crops, plausible ranges, compositions, accounts and audit.',
    )
    .version(VERSION, '-V, --version', 'print the version of the service')
    .option('--verbose', 'show the stack of an unexpected error')
    .addHelpText(
      'after',
      `
The database is the one of DATABASE_URL, or else the embedded one in DATA_DIR (default ./data),
which only one process can use: stop the service first.

The answer of a command goes to stdout, as JSON with --json (of a refusal its \`error\` and \`code\`);
progress, notes and errors go to stderr.

Exit codes:
  ${EXIT.done}    done
  ${EXIT.refused}    not done: a sentence says what to mend
  ${EXIT.usage}    the command was called wrongly
  ${EXIT.unexpected}   an unexpected error, a mistake of ours
  ${EXIT.interrupted}  ended by Ctrl-C, once what it had begun is undone
A command with codes of its own says so in its help.`,
    )
}

export function commandsBelow(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsBelow)]
}

export async function operate(parameters: string[]): Promise<number> {
  const program = await createProgram(parameters.find((parameter) => !parameter.startsWith('-')))
  try {
    await program.parseAsync(parameters, { from: 'user' })
    return EXIT.done
  } catch (error) {
    if (error instanceof ExitWith) return error.code
    // Commander has printed its message; help and version are errors too.
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.done
    const refusal = readRefusal(error)
    if (!(error instanceof CommanderError)) {
      console.error(refusal ? refusal.message : unexpectedText(error, program.opts().verbose))
    }
    const { message, code, answer } =
      refusal ?? new OperatorError(unexpectedText(error, false), { code: 'UNEXPECTED' })
    if (parameters.includes('--json')) console.log(JSON.stringify({ ...answer, error: message, code }))
    return EXITS[code] ?? EXIT.refused
  }
}

/** Other codes are refusals of the operator's data. */
const EXITS: Partial<Record<OperatorCode, number>> = { USAGE: EXIT.usage, UNEXPECTED: EXIT.unexpected }

/** Errors that the operator can repair. */
function readRefusal(error: unknown): OperatorError | undefined {
  if (error instanceof OperatorError) return error
  if (error instanceof CommanderError) {
    return new OperatorError(error.message.replace(/^error: /, ''), { code: 'USAGE' })
  }
  if (error instanceof StorageUnavailable) return new OperatorError(`${formatError(error)}.`)
  if (!isDatabaseUnavailable(error)) return undefined
  const sentence = isDiskFull(error)
    ? `The disk of the database is full: ${error.message}. Make room there, and do it again. What a load had written is deleted; \`vacuum raster_tile, tile_summary\` there frees its room.`
    : `The database went away: ${error.message}.`
  return new OperatorError(sentence, { code: 'DATABASE_UNAVAILABLE' })
}

function unexpectedText(error: unknown, verbose: boolean): string {
  const isAsked = verbose || process.env.DEBUG
  if (isAsked && error instanceof Error) return error.stack ?? error.message
  const [line] = formatError(error).split('\n')
  return `Unexpected error: ${line} (--verbose shows where it comes from).`
}
