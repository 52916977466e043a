import { Command } from 'commander'
import type { Database } from '#src/database/client.ts'
import { importDatabase } from '#src/database/transfer/import.ts'
import { lockWork } from '#src/database/work-lock.ts'
import { findFileTotals, listSomeGranules } from '#src/ingest/move-queries.ts'
import { FILES_LOCK, lookForFiles } from '#src/ingest/unused-files.ts'
import { StorageUnavailable } from '#src/storage/store.ts'
import { tell, withDatabase } from './database.ts'
import { countsOf, totalOf } from './export.ts'
import { pathNamed } from './files.ts'
import { JSON_OPTION, type Output, print, say, withExamples } from './output.ts'
import { progressIfLong } from './progress.ts'

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
