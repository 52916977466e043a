import { Command } from 'commander'
import type { Database } from '#src/data/client.ts'
import { StorageUnavailable } from '#src/data/files/store.ts'
import { migrate } from '#src/data/migrate.ts'
import { grantService } from '#src/data/rights.ts'
import { exportDatabase, importDatabase } from '#src/data/transfer/copy.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { createMonthsAhead } from '#src/history/queries.ts'
import { seedDemo } from '#src/ingest/demo/seed.ts'
import { type FileTotals, findFileTotals, listSomeGranules } from '#src/ingest/move-queries.ts'
import { summariseCoverages } from '#src/ingest/summarise.ts'
import { FILES_LOCK, lookForFiles } from '#src/ingest/unused-files.ts'
import { lookInDatabase, onDatabase, tell, withDatabase } from './database.ts'
import { progressIfLong, progressLine } from './progress.ts'
import { sizeText } from './table.ts'
import { JSON_OPTION, type Output, pathNamed, print, say, withExamples } from './terminal.ts'

export const migrateCommand = new Command('migrate')
  .description(
    'Bring the database schema up to date. The service does this by itself when it starts, unless MIGRATE_ON_START is false.',
  )
  .option(...JSON_OPTION)
  .action((output: Output) =>
    onDatabase(async (database) => {
      const applied = await migrate(database.writer, undefined, { progress: tell })
      await createMonthsAhead(database.writer)
      const progress = progressLine('summarising rasters')
      const summarised = await summariseCoverages(database, (done, of) => progress(done / of))
      const lines = applied.map((name) => `applied ${name}`)
      if (applied.length === 0) lines.push('The schema is up to date.')
      if (summarised > 0) {
        lines.push(`Summarised ${summarised} rasters that were loaded before there were summaries.`)
      }
      print(output, { applied, summarised }, lines.join('\n'))
    }),
  )
withExamples(migrateCommand, 'agro migrate')

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

export const demoCommand = new Command('demo')
  .description('Publish the synthetic demo releases, unless something real is published.')
  .option(...JSON_OPTION)
  .action((output: Output) =>
    withDatabase(async (database) => {
      const progress = progressLine('seeding synthetic demo data')
      const published = await seedDemo(database, (done, of) => progress(done / of))
      print(
        output,
        { published },
        published === 0
          ? 'Nothing to do.'
          : `Published ${published} synthetic releases. They are not advice.`,
      )
    }),
  )
withExamples(demoCommand, 'agro demo')

export const exportCommand = new Command('export')
  .description(
    'Export all data into a file for `agro import`, to move between the embedded database and a server. On a server the service may keep running.',
  )
  .argument('<file>', 'the new file, readable by its owner only')
  .option(...JSON_OPTION)
  .action((file: string, output: Output) =>
    lookInDatabase(async ({ writer, files }) => {
      const digests = await exportDatabase(writer, pathNamed(file), progressIfLong('exporting'))
      const rows = totalOf(digests)
      print(
        output,
        { file, rows, tables: countsOf(digests) },
        `${file} has ${rows} rows of ${Object.keys(digests).length} tables.`,
      )
      const inFiles = await findFileTotals(writer)
      if (inFiles.releases > 0) say('note', filesText(inFiles, files?.place))
      say(
        'note',
        'It has the e-mails, the hashes of passwords and the histories of all accounts: keep it as you keep the database. JWT_SECRET (of the embedded database, DATA_DIR/jwt-secret) is not in it, and goes with it by another way: second factors and logins need the same one.',
      )
    }),
  )
withExamples(exportCommand, 'agro export advisory.agro')

/** What goes with an export by another way. */
function filesText({ releases, files, bytes }: FileTotals, place = 'the files of TILE_STORE'): string {
  return `The tiles of ${releases} releases are not in it, but in ${files} files (${sizeText(bytes)}) of ${place}. Where it is imported, TILE_STORE has to lead to these or to a copy, in which each file has the same path. Or move them into the database before: agro releases move RELEASE --to postgis.`
}

type Digests = Awaited<ReturnType<typeof exportDatabase>>

/** How many rows each table has. */
export function countsOf(digests: Digests): Record<string, number> {
  return Object.fromEntries(Object.entries(digests).map(([table, { rows }]) => [table, rows]))
}

export function totalOf(digests: Digests): number {
  return Object.values(digests).reduce((total, { rows }) => total + rows, 0)
}

export const importCommand = new Command('import')
  .description(
    'Import a file of `agro export` into a new database, as the owner of its schema. The import is complete or leaves no change, and is compared with the file.',
  )
  .argument('<file>', 'a file of `agro export`, of the same version')
  .option(...JSON_OPTION)
  .action((file: string, output: Output) =>
    withDatabase(async (database) => {
      const { writer, files } = database
      const digests = await whileNothingIsSwept(database, () =>
        importDatabase(writer, pathNamed(file), (phase) => progressIfLong(phase)),
      )
      const rows = totalOf(digests)
      print(
        output,
        { file, rows, tables: countsOf(digests) },
        `${rows} rows of ${Object.keys(digests).length} tables are there, the same as in ${file}.`,
      )
      await sayWhatIsInFiles(writer, files)
    }),
  )

/** Any constant will do, as long as every process that imports uses the same. */
const IMPORT_LOCK = 7_239_463

/** Before an import is done nobody but it knows which files are of releases. */
async function whileNothingIsSwept<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  if (!database.files) return work()
  const onWait = () => tell('Files are being swept, or another import is under way: waiting for that.')
  const { unlock } = await lockWork(database, IMPORT_LOCK, { shared: FILES_LOCK, onWait })
  return work().finally(unlock)
}

/** Of the files that releases are in, so many are looked for. */
const FILES_LOOKED_FOR = 1000

/** Says which files the database names that are not where this machine looks for them. */
async function sayWhatIsInFiles(db: Database['writer'], files: Database['files']): Promise<void> {
  const { releases, files: named } = await findFileTotals(db)
  if (releases === 0) return
  const begin = `The tiles of ${releases} releases are in ${named} files`
  if (!files) {
    say(
      'error',
      `${begin}, and TILE_STORE names none: set it to where they are. Until then these are answered 503.`,
    )
    return
  }
  const some = await listSomeGranules(db, FILES_LOOKED_FOR)
  const found = await lookForFiles(files, some).catch((error) => {
    // What was imported is there all the same.
    if (!(error instanceof StorageUnavailable)) throw error
    say('error', `${begin}, and ${error.message}.`)
  })
  if (!found) return
  const { looked, absent } = found
  if (absent.length === 0)
    say('note', `${begin} of ${files.place}: ${looked} were looked for, and are there.`)
  else {
    say(
      'error',
      `${begin} of ${files.place}, where ${absent.length} of the ${looked} that were looked for are missing or damaged: copy them there, each with the same path.`,
    )
  }
}

withExamples(importCommand, 'agro import advisory.agro')
