import { command } from '#src/cli/command.ts'
import { type Output, pathNamed, progressIfLong, report, say } from '#src/cli/terminal.ts'
import type { Database } from '#src/data/database.ts'
import { listStores, TILE_STORES } from '#src/data/tiles/stores.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { storeForLoads } from '#src/ingest/pixel-writing.ts'
import { exportDatabase, importDatabase } from './copy-queries.ts'

export const exportCommand = command({
  usage: 'export <file>',
  description:
    'Export all data into a file for `agro import`, to move between the embedded database and a server. On a server the service may keep running.',
  parameters: ['the new file, readable by its owner only'],
  examples: ['agro export advisory.agro'],
  async look(database, _: Output, file: string) {
    const digests = await exportDatabase(database.writer, pathNamed(file), progressIfLong('exporting'))
    const { rows, tables } = countRows(digests)
    await sayNotices(database, 'noteExport')
    say(
      'note',
      'It has the e-mails, the hashes of passwords and the histories of all accounts: keep it as you keep the database. JWT_SECRET (of the embedded database, DATA_DIR/jwt-secret) is not in it, and goes with it by another way: second factors and logins need the same one.',
    )
    return [{ file, rows, tables }, `${file} has ${rows} rows of ${Object.keys(tables).length} tables.`]
  },
})

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
    const digests = await whileNothingIsSwept(database, () =>
      importDatabase(database.writer, pathNamed(file), (phase) => progressIfLong(phase)),
    )
    const { rows, tables } = countRows(digests)
    const text = `${rows} rows of ${Object.keys(tables).length} tables are there, the same as in ${file}.`
    await sayNotices(database, 'noteImport')
    return [{ file, rows, tables }, text]
  },
})

/** Processes that import share this arbitrary number. */
const IMPORT_LOCK = 7_239_463

/** Other processes cannot see the files of an unfinished import, and would sweep them. */
async function whileNothingIsSwept<Result>(database: Database, work: () => Promise<Result>): Promise<Result> {
  const shared = TILE_STORES[storeForLoads(database)]?.lock
  if (shared === undefined) return work()
  const onWait = () => report('Files are being swept, or another import is under way: waiting for that.')
  const { unlock } = await lockWork(database, IMPORT_LOCK, { shared, onWait })
  return work().finally(unlock)
}

/** What operators have to know of tiles that are not in the database. */
async function sayNotices(database: Database, of: 'noteExport' | 'noteImport'): Promise<void> {
  for (const [, store] of listStores(database.config)) {
    const notice = await store[of]?.(database)
    if (notice) say(notice.level, notice.sentence)
  }
}
