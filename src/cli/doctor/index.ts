import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { Kysely, PostgresDialect } from 'kysely'
import { type Config, loadConfig, loadEnvironmentFile } from '#src/config.ts'
import { type Cluster, openCluster } from '#src/database/client.ts'
import { FolderInUse } from '#src/database/embedded/lock.ts'
import { DatabaseUnreachable } from '#src/database/unreachable.ts'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { openFolderApart } from '#src/storage/apart/store.ts'
import { ExitWith } from '../exit.ts'
import { JSON_OPTION, type Output, print, withExamples } from '../output.ts'
import { whileShown } from '../progress.ts'
import { areas } from './areas.ts'
import { clock } from './clock.ts'
import { connections } from './connections.ts'
import { disk } from './disk.ts'
import { examine, type NamedFinding, type Patient, readingFrom } from './examination.ts'
import { ANSWER_MS, files } from './files.ts'
import { type DoctorReport, EXIT_OF_LEVEL, error, type Finding, unknown, worstOf } from './finding.ts'
import { history } from './history.ts'
import { mail } from './mail.ts'
import { releases } from './releases.ts'
import { replica } from './replica.ts'
import { schema } from './schema.ts'
import { secrets } from './secrets.ts'
import { settings } from './settings.ts'
import { subscriptions } from './subscriptions.ts'
import { tables } from './tables.ts'
import { reportText } from './text.ts'
import { databaseVersions, programVersions } from './versions.ts'

/** How long the database may think about one question. */
const QUESTION_MS = 10_000

export const doctorCommand = new Command('doctor')
  .description('Check the settings, the database and the releases, and say what to do. Changes nothing.')
  .option(...JSON_OPTION)
  .addHelpText(
    'after',
    `
Each finding is ok, a note, a warning, an error, or unknown where it could not be looked at. Exit codes, as
monitoring takes them: 2 there is an error, 1 a warning, 3 something is unknown, 0 none of these.`,
  )
  .action(async (output: Output) => {
    const findings = await whileShown('looking', examination())
    const report: DoctorReport = {
      status: worstOf(findings.map(({ level }) => level)),
      checked_at: new Date().toISOString(),
      findings,
    }
    print(output, report, reportText(report, Boolean(process.stdout.isTTY && !process.env.NO_COLOR)))
    throw new ExitWith(EXIT_OF_LEVEL[report.status])
  })
withExamples(doctorCommand, 'agro doctor', 'agro doctor --json')

async function examination(): Promise<NamedFinding[]> {
  const program = await examine([programVersions], undefined)
  let config: Config
  try {
    loadEnvironmentFile()
    config = loadConfig()
  } catch (caught) {
    const finding = error(messageOf(caught), 'Mend this setting: the service does not start before.')
    return [...program, { group: 'settings', check: 'configuration', ...finding }]
  }
  const outside = await examine([settings, secrets, mail, disk], config)
  return [...program, ...outside, ...(await databaseFindings(config))]
}

async function databaseFindings(config: Config): Promise<NamedFinding[]> {
  const named = { group: 'database', check: 'open' }
  // Opening it would make one.
  if (config.DATABASE_URL === undefined && !existsSync(join(config.DATA_DIR, 'postgres'))) {
    return [
      {
        ...named,
        ...unknown(
          `There is no embedded database in ${config.DATA_DIR}.`,
          'Start the service, or set DATA_DIR.',
        ),
      },
    ]
  }
  let cluster: Cluster
  try {
    // One connection: where there are too few, the doctor takes no more of them than it must.
    cluster = await openCluster({ ...config, DATABASE_POOL_SIZE: 1, STATEMENT_TIMEOUT_MS: QUESTION_MS })
  } catch (caught) {
    if (!(caught instanceof OperatorError)) throw caught
    return [{ ...named, ...notOpened(caught) }]
  }
  return examineCluster(config, cluster)
}

function notOpened(caught: OperatorError): Finding {
  if (caught instanceof FolderInUse) {
    return unknown(caught.message, 'What is in the database can be looked at while it is stopped.')
  }
  const step = caught instanceof DatabaseUnreachable ? caught.step : 'Do what the sentence says.'
  return error(caught.message, step)
}

async function examineCluster(config: Config, cluster: Cluster): Promise<NamedFinding[]> {
  const database = cluster.connect()
  // A disk that hangs would keep this process from ending.
  const apart =
    database.files && config.TILE_STORE.startsWith('file:')
      ? openFolderApart(database.files.place, ANSWER_MS)
      : undefined
  const patient: Patient = {
    config,
    kind: database.kind,
    ask: readingFrom(database.writer),
    // Without the way round of requests, which ask the primary where the replica does not answer.
    files: apart ?? database.files,
    askReplica: readingFrom(new Kysely({ dialect: new PostgresDialect({ pool: database.readPool }) })),
  }
  const onServer = [connections, ...(config.DATABASE_READ_URL === undefined ? [] : [replica]), clock]
  try {
    return await examine(
      [
        databaseVersions,
        schema,
        ...(database.kind === 'server' ? onServer : []),
        tables,
        history,
        releases,
        files,
        areas,
        subscriptions,
      ],
      patient,
    )
  } finally {
    apart?.end()
    await database.close()
    await cluster.close()
  }
}
