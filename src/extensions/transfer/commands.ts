import { command } from '#src/cli/command.ts'
import { sizeText } from '#src/cli/table.ts'
import { type Output, pathNamed, progressIfLong, say, tell } from '#src/cli/terminal.ts'
import type { Database } from '#src/data/client.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { type FileTotals, findFileTotals, listSomeGranules } from '#src/extensions/tile-files/queries.ts'
import { StorageUnavailable } from '#src/extensions/tile-files/store.ts'
import { FILES_LOCK, lookForFiles } from '#src/extensions/tile-files/unused-files.ts'
import { exportDatabase, importDatabase } from './copy-queries.ts'

export const exportCommand = command({
  usage: 'export <file>',
  description:
    'Export all data into a file for `agro import`, to move between the embedded database and a server. On a server the service may keep running.',
  parameters: ['the new file, readable by its owner only'],
  examples: ['agro export advisory.agro'],
  async look({ writer, files }, _: Output, file: string) {
    const digests = await exportDatabase(writer, pathNamed(file), progressIfLong('exporting'))
    const { rows, tables } = countRows(digests)
    const inFiles = await findFileTotals(writer)
    if (inFiles.releases > 0) say('note', filesText(inFiles, files?.place))
    say(
      'note',
      'It has the e-mails, the hashes of passwords and the histories of all accounts: keep it as you keep the database. JWT_SECRET (of the embedded database, DATA_DIR/jwt-secret) is not in it, and goes with it by another way: second factors and logins need the same one.',
    )
    return [{ file, rows, tables }, `${file} has ${rows} rows of ${Object.keys(tables).length} tables.`]
  },
})

function filesText({ releases, files, bytes }: FileTotals, place = 'the files of TILE_STORE'): string {
  return `The tiles of ${releases} releases are not in it, but in ${files} files (${sizeText(bytes)}) of ${place}. Where it is imported, TILE_STORE has to lead to these or to a copy, in which each file has the same path. Or move them into the database before: agro releases move RELEASE --to postgis.`
}

/** In all, and by table. */
function countRows(digests: Awaited<ReturnType<typeof exportDatabase>>) {
  const tables = Object.fromEntries(Object.entries(digests).map(([table, { rows }]) => [table, rows]))
  return { rows: Object.values(tables).reduce((total, rows) => total + rows, 0), tables }
}

export const importCommand = command({
  usage: 'import <file>',
  description:
    'Import a file of `agro export` into a new database, as the owner of its schema. The import is complete or leaves no change, and is compared with the file.',
  parameters: ['a file of `agro export`, of the same version'],
  examples: ['agro import advisory.agro'],
  async change(database, _: Output, file: string) {
    const { writer, files } = database
    const digests = await whileNothingIsSwept(database, () =>
      importDatabase(writer, pathNamed(file), (phase) => progressIfLong(phase)),
    )
    const { rows, tables } = countRows(digests)
    const text = `${rows} rows of ${Object.keys(tables).length} tables are there, the same as in ${file}.`
    await sayMissingFiles(writer, files)
    return [{ file, rows, tables }, text]
  },
})

/** Processes that import share this arbitrary number. */
const IMPORT_LOCK = 7_239_463

/** Other processes cannot see the files of an unfinished import, and would sweep them. */
async function whileNothingIsSwept<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  if (!database.files) return work()
  const onWait = () => tell('Files are being swept, or another import is under way: waiting for that.')
  const { unlock } = await lockWork(database, IMPORT_LOCK, { shared: FILES_LOCK, onWait })
  return work().finally(unlock)
}

const FILES_LOOKED_FOR = 1000

async function sayMissingFiles(db: Database['writer'], files: Database['files']): Promise<void> {
  const { releases, files: named } = await findFileTotals(db)
  if (releases === 0) return
  const begin = `The tiles of ${releases} releases are in ${named} files`
  if (!files) {
    const remedy = 'set it to where they are. Until then these are answered 503.'
    return say('error', `${begin}, and TILE_STORE names none: ${remedy}`)
  }
  const some = await listSomeGranules(db, FILES_LOOKED_FOR)
  const found = await lookForFiles(files, some).catch((error) => {
    // The import is complete all the same.
    if (!(error instanceof StorageUnavailable)) throw error
    say('error', `${begin}, and ${error.message}.`)
  })
  if (!found) return
  const { looked, absent } = found
  if (absent.length === 0) {
    return say('note', `${begin} of ${files.place}: ${looked} were looked for, and are there.`)
  }
  const missing = `${absent.length} of the ${looked} that were looked for are missing or damaged`
  say('error', `${begin} of ${files.place}, where ${missing}: copy them there, each with the same path.`)
}
