import { Command, InvalidArgumentError, Option } from 'commander'
import { MAX_LEVEL } from '#schemas/areas.ts'
import { type Config, loadConfig, loadEnvironmentFile } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import type { Database } from '#src/data/database.ts'
import { migrate } from '#src/data/migrate.ts'
import { explainRights } from '#src/data/rights.ts'
import { refuseOlderSchema } from '#src/data/schema-state.ts'
import type { Db } from '#src/data/tables.ts'
import { formatTable } from './table.ts'
import { type Output, print, report } from './terminal.ts'

export type CommandAnswer = readonly [value: unknown, text: string]

interface Declaration<Options extends Output, Parameters extends unknown[]> {
  /** The name and the parameters: `publish <release>`. */
  usage: string
  description: string
  parameters?: readonly string[]
  /** `--json` is added to them. */
  options?: readonly (Option | readonly [flags: string, description: string])[]
  help?: string
  examples: readonly string[]
  /** Reports wrong settings itself. */
  reportsSettings?: boolean
  /** Works on the schema as it is. */
  look?(database: Database, options: Options, ...parameters: Parameters): Promise<CommandAnswer | undefined>
  /** Migrates the schema first, unless MIGRATE_ON_START leaves that to `agro migrate`. */
  change?(database: Database, options: Options, ...parameters: Parameters): Promise<CommandAnswer | undefined>
  /** Opens a database itself, after checks that need none. */
  run?(options: Options, ...parameters: Parameters): Promise<CommandAnswer | undefined>
}

export function command<Options extends Output, Parameters extends unknown[]>(
  declared: Declaration<Options, Parameters>,
): Command {
  const { usage, description, parameters = [], options = [], help, examples } = declared
  const { look, change, run, reportsSettings = false } = declared
  const [name, ...names] = usage.split(' ') as [string, ...string[]]
  const made = new Command(name).description(description)
  for (const [index, parameter] of names.entries()) made.argument(parameter, parameters[index])
  for (const option of [...options, ['--json', 'answer in JSON, for programs'] as const]) {
    made.addOption(option instanceof Option ? option : new Option(...option))
  }
  if (help) made.addHelpText('after', help)
  return withExamples(made, examples).action(async (...called: unknown[]) => {
    if (!reportsSettings) loadEnvironmentFile()
    // Commander appends the options and the command.
    const given = called.at(-2) as Options
    const values = called.slice(0, -2) as Parameters
    const answer = async (answering: Promise<CommandAnswer | undefined> | undefined) => {
      const answered = await answering
      if (answered) print(given, ...answered)
    }
    if (look) return lookInDatabase((database) => answer(look(database, given, ...values)))
    if (change) return withDatabase((database) => answer(change(database, given, ...values)))
    return answer(run?.(given, ...values))
  })
}

export function levelOption(): Option {
  return new Option(
    '--level <number>',
    'areas of this level; the finest that is loaded, down to 2, when left out',
  ).argParser((text) => {
    if (/^\d$/.test(text) && Number(text) <= MAX_LEVEL) return Number(text)
    throw new InvalidArgumentError(`It must be from 0 to ${MAX_LEVEL}.`)
  })
}

/** The command `list` of a group. @param none the sentence for no rows */
export function listCommand<Row>(
  above: string,
  description: string,
  read: (db: Db) => Promise<Row[]>,
  { none, head, cells }: { none: string; head: string[]; cells: (row: Row) => string[] },
): Command {
  return command({
    usage: 'list',
    description,
    examples: [`agro ${above} list`, `agro ${above} list --json`],
    async look({ writer }) {
      const rows = await read(writer)
      return [rows, rows.length === 0 ? none : formatTable(head, rows.map(cells))]
    },
  })
}

export function group(name: string, description: string, commands: readonly Command[]): Command {
  const made = new Command(name).description(description)
  for (const one of commands) made.addCommand(one)
  return made
}

export function withExamples(made: Command, examples: readonly string[]): Command {
  return made.addHelpText('after', ['', 'Examples:', ...examples.map((line) => `  ${line}`)].join('\n'))
}

export const YES_OPTION = ['-y, --yes', 'do it without asking'] as const

/** @throws {OperatorError} for a database that cannot be reached or has the schema of another version */
export function withDatabase<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
  return onDatabase(async (database, config) => {
    if (config.MIGRATE_ON_START)
      await migrate(database.writer, undefined, { progress: report, force: database.kind === 'embedded' })
    else await refuseOlderSchema(database.writer)
    return work(database)
  })
}

/** @throws {OperatorError} for a database that cannot be reached or has the schema of another version */
export function lookInDatabase<Result>(
  work: (database: Database, config: Config) => Promise<Result>,
): Promise<Result> {
  return onDatabase(async (database, config) => {
    await refuseOlderSchema(database.writer)
    return work(database, config)
  })
}

export async function onDatabase<Result>(
  work: (database: Database, config: Config) => Promise<Result>,
  config = loadConfig(),
): Promise<Result> {
  const cluster = await openCluster(config)
  const database = cluster.connectForMaintenance()
  try {
    return await work(database, config).catch((error) => explainRights(database.writer, error))
  } finally {
    await database.close()
    await cluster.close()
  }
}
