import { type Kysely, sql, type Transaction } from 'kysely'
import { VERSION } from '#src/lib/version.ts'
import { listAddedCrs } from '../crs.ts'
import type { Tables } from '../tables.ts'
import {
  type ArchiveHead,
  type Digest,
  FORMAT,
  lineOf,
  listRelations,
  listSizes,
  RowDigest,
  readSequences,
  settleText,
  writeArchive,
} from './archive.ts'

/** Of the tables by their names. */
export type Digests = Record<string, Digest>

/**
 * Writes all rows of all tables into a file, as they were at one moment; others may write meanwhile. Rows are read
 * some at a time.
 *
 * @param progress is told which part is written, from 0 to 1
 * @throws {OperatorError} where the file is there already, or cannot be written
 */
export async function exportDatabase(
  db: Kysely<Tables>,
  path: string,
  progress: (part: number) => void = () => {},
): Promise<Digests> {
  const digests: Digests = {}
  await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await settleText(trx)
      await writeArchive(path, archiveLines(trx, digests, progress))
    })
  return digests
}

async function* archiveLines(
  trx: Transaction<Tables>,
  digests: Digests,
  progress: (part: number) => void,
): AsyncGenerator<string> {
  const relations = await listRelations(trx)
  // A migration waits until this is done, as it does for pg_dump.
  await sql`lock table ${sql.join(relations.map(({ name }) => sql.table(name)))} in access share mode`.execute(
    trx,
  )
  const sizes = await listSizes(trx, relations)
  const all = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  let done = 0
  yield lineOf(await headOf(trx))
  for (const { name, columns } of relations) {
    yield lineOf({ table: { name, columns } })
    const size = sizes.get(name) ?? 0
    const count = await countRows(trx, name)
    const digest = new RowDigest()
    let rows = 0
    for await (const row of rowsOf(trx, name)) {
      digest.add(row)
      yield lineOf({ row })
      progress((done + (size * ++rows) / count) / all)
    }
    done += size
    digests[name] = digest.end()
    yield lineOf({ tableEnd: digest.end() })
  }
  yield lineOf({ end: await readSequences(trx) })
}

async function countRows(trx: Transaction<Tables>, name: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(trx)
  return rows[0]?.count as number
}

/** What the schema of a database was made by. */
export async function readMigrations(db: Kysely<Tables>): Promise<ArchiveHead['migrations']> {
  return db
    .selectFrom('applied_script')
    .select(['name', 'checksum'])
    .where('kind', '=', 'migration')
    .orderBy('name')
    .execute()
}

async function headOf(trx: Transaction<Tables>): Promise<ArchiveHead> {
  return {
    format: FORMAT,
    service: VERSION,
    migrations: await readMigrations(trx),
    crs: await listAddedCrs(trx),
  }
}

/** Rows are read in portions of about this many characters. */
const PORTION = 1024 * 1024
const FIRST_ROWS = 8
const MOST_ROWS = 1000

/**
 * The rows of a table, each as text. How many are read at once goes by the longest one so far: a row may be a name
 * or the outline of a country. COPY would be read as a whole into memory on the embedded database.
 */
async function* rowsOf(trx: Transaction<Tables>, name: string): AsyncGenerator<string> {
  await sql`declare exported no scroll cursor for select entry::text as text from ${sql.table(name)} as entry`.execute(
    trx,
  )
  let most = FIRST_ROWS
  let longest = 1
  for (;;) {
    const { rows } = await sql<{ text: string }>`fetch forward ${sql.lit(most)} from exported`.execute(trx)
    for (const { text } of rows) {
      longest = Math.max(longest, text.length)
      yield text
    }
    if (rows.length < most) break
    most = Math.min(2 * most, MOST_ROWS, Math.max(1, Math.floor(PORTION / longest)))
  }
  await sql`close exported`.execute(trx)
}
