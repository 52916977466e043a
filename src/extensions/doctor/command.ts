import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, PostgresDialect } from 'kysely'
import { command } from '#src/cli/command.ts'
import {
  type CheckedDatabase,
  type CheckResults,
  type Checks,
  error,
  ok,
  unknown,
} from '#src/cli/findings.ts'
import { ExitWith, print, whileShown } from '#src/cli/terminal.ts'
import { type Config, loadConfig, loadEnvironmentFile } from '#src/config.ts'
import { DatabaseUnreachable, openCluster } from '#src/data/client.ts'
import type { Cluster } from '#src/data/database.ts'
import { FolderInUse } from '#src/data/embedded/cluster.ts'
import { isDatabaseUnavailable } from '#src/data/failures.ts'
import type { Db } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { VERSION } from '#src/lib/version.ts'
import type { Extension } from '../extension.ts'
import { NO_SCHEMA, SCHEMA_CHECKS, SERVER_CHECKS, SETTINGS_CHECKS } from './checks.ts'
import { DATA_CHECKS } from './data-checks.ts'
import { type DoctorReport, reportText, summarise } from './report.ts'

/** For an answer of the database, and of the files. */
const QUESTION_MS = 10_000

type NamedFinding = DoctorReport['findings'][number]

/** @param on the extensions whose checks it makes, too */
export const createDoctorCommand = (on: readonly Extension[]) =>
  command({
    usage: 'doctor',
    description: 'Check the settings, the database and the releases, and say what to do. Changes nothing.',
    help: `
Each finding is ok, a note, a warning, an error, or unknown where it could not be looked at. Exit codes, as
monitoring takes them: 2 there is an error, 1 a warning, 3 something is unknown, 0 none of these.`,
    examples: ['agro doctor', 'agro doctor --json'],
    reportsSettings: true,
    async run(output) {
      const findings = await whileShown('looking', examineAll(on))
      const { status, exitCode } = summarise(findings)
      const report: DoctorReport = { status, checked_at: new Date().toISOString(), findings }
      print(output, report, reportText(report, Boolean(process.stdout.isTTY && !process.env.NO_COLOR)))
      throw new ExitWith(exitCode)
    },
  })

async function examineAll(on: readonly Extension[]): Promise<NamedFinding[]> {
  const service = `The service is ${VERSION}, on Node ${process.versions.node}.`
  const program = nameFindings('versions.service', ok(service))
  let config: Config
  try {
    loadEnvironmentFile()
    config = loadConfig()
  } catch (caught) {
    const finding = error(formatError(caught), 'Mend this setting: the service does not start before.')
    return [...program, ...nameFindings('settings.configuration', finding)]
  }
  return [...program, ...(await examine(SETTINGS_CHECKS, config)), ...(await examineDatabase(config, on))]
}

async function examineDatabase(config: Config, on: readonly Extension[]): Promise<NamedFinding[]> {
  // Opening it would create one.
  if (config.DATABASE_URL === undefined && !existsSync(join(config.DATA_DIR, 'postgres'))) {
    const sentence = `There is no embedded database in ${config.DATA_DIR}.`
    return nameFindings('database.open', unknown(sentence, 'Start the service, or set DATA_DIR.'))
  }
  let cluster: Cluster
  try {
    // The doctor takes one connection, since there may be few.
    cluster = await openCluster({ ...config, DATABASE_POOL_SIZE: 1, STATEMENT_TIMEOUT_MS: QUESTION_MS })
  } catch (caught) {
    if (!(caught instanceof OperatorError)) throw caught
    const step = caught instanceof DatabaseUnreachable ? caught.step : 'Do what the sentence says.'
    const finding =
      caught instanceof FolderInUse
        ? unknown(caught.message, 'The data can be looked at while it is stopped.')
        : error(caught.message, step)
    return nameFindings('database.open', finding)
  }
  const database = cluster.connect()
  const patient: CheckedDatabase = {
    config,
    kind: database.kind,
    ask: readingFrom(database.writer),
    change: (query) => database.writer.transaction().setAccessMode('read write').execute(query),
    // Requests would fall back to the primary; this pool does not.
    askReplica: readingFrom(new Kysely({ dialect: new PostgresDialect({ pool: database.readPool }) })),
  }
  const ofServer = database.kind === 'server' ? SERVER_CHECKS : {}
  try {
    const found = await examine({ ...SCHEMA_CHECKS, ...ofServer }, patient)
    if (found.some(({ sentence }) => sentence === NO_SCHEMA)) return found
    const ofExtensions = await Promise.all(on.map((extension) => extension.checks?.()))
    return [...found, ...(await examine(Object.assign({}, DATA_CHECKS, ...ofExtensions), patient))]
  } finally {
    await database.close()
    await cluster.close()
  }
}

/** Each query runs in a read-only transaction. */
export function readingFrom(db: Db): CheckedDatabase['ask'] {
  return (query) => db.transaction().setAccessMode('read only').execute(query)
}

/** A failed check stops no other one, unless the database has gone: each would wait for its deadline. */
async function examine<Subject>(checks: Checks<Subject>, subject: Subject): Promise<NamedFinding[]> {
  const findings: NamedFinding[] = []
  let isGone = false
  for (const [name, look] of Object.entries(checks)) {
    const found: CheckResults = isGone
      ? unknown('This could not be looked at either.')
      : await tryLook(look, subject)
    isGone ||= found === GONE
    findings.push(...nameFindings(name, found))
  }
  return findings
}

function nameFindings(name: string, found: CheckResults): NamedFinding[] {
  const [group, check] = name.split('.') as [string, string]
  return [found].flat().map((finding) => ({ group, check, ...finding }))
}

const STATEMENT_TIMEOUT = '57014'

/** Codes of missing functions, columns and tables: of pending migrations. */
const NOT_THERE = ['42883', '42703', '42P01']

const GONE = error('The database answers no more.', 'Look at its log and at the network between.')

async function tryLook<Subject>(look: Checks<Subject>[keyof Checks<Subject>], subject: Subject) {
  try {
    return await look(subject)
  } catch (caught) {
    if (readErrorCode(caught) === STATEMENT_TIMEOUT)
      return unknown('The database took too long to answer this.')
    if (isDatabaseUnavailable(caught)) return GONE
    const sentence = `This could not be looked at: ${formatError(caught).replace(/\.$/, '')}.`
    return NOT_THERE.includes(readErrorCode(caught) ?? '')
      ? unknown(sentence, 'Follow first the advice on the schema.')
      : unknown(sentence)
  }
}
