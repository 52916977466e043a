import { sql } from 'kysely'
import { addCrs, listAddedCrs } from '#src/data/crs.ts'
import type { Digest } from '#src/data/row-digest.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Db, Tables, Trx } from '#src/data/tables.ts'
import { listSome, OperatorError } from '#src/errors.ts'
import { VERSION } from '#src/lib/version.ts'
import {
  ARCHIVE_FORMAT,
  type ArchiveHead,
  type ArchivePart,
  computeDigest,
  type ForeignKey,
  formatLine,
  listForeignKeys,
  openTransferArchive,
  readSequences,
  setSequence,
  writeArchive,
} from './archive-queries.ts'
import {
  insert,
  listRelations,
  PORTION,
  type Relation,
  readAsOfNow,
  readRows,
  sameRelation,
  settleText,
} from './relation-queries.ts'

/** By table. */
type Digests = Record<string, Digest>

/**
 * Writes all rows of all tables into a file, as of one moment; others may write meanwhile.
 *
 * @param progress receives the share of written tables
 */
export async function exportDatabase(
  db: Db,
  path: string,
  progress: (part: number) => void = () => {},
): Promise<Digests> {
  const digests: Digests = {}
  await readAsOfNow(db, (trx) => writeArchive(path, archiveLines(trx, digests, progress)))
  return digests
}

async function* archiveLines(
  trx: Trx,
  digests: Digests,
  progress: (part: number) => void,
): AsyncGenerator<string> {
  const relations = await listRelations(trx)
  // A migration waits for it, as for pg_dump.
  const tables = sql.join(relations.map(({ name }) => sql.table(name)))
  await sql`lock table ${tables} in access share mode`.execute(trx)
  let done = 0
  yield formatLine(await headOf(trx))
  for (const { name, columns } of relations) {
    yield formatLine({ table: { name, columns } })
    const digest = await computeDigest(trx, name)
    let rows = 0
    for await (const row of readRows(trx, name)) {
      yield formatLine({ row })
      progress((done + ++rows / digest.rows) / relations.length)
    }
    progress(++done / relations.length)
    digests[name] = digest
    yield formatLine({ tableEnd: digest })
  }
  yield formatLine({ end: await readSequences(trx) })
}

async function readMigrations(db: Db): Promise<ArchiveHead['migrations']> {
  return db
    .selectFrom('applied_script')
    .select(['name', 'checksum'])
    .where('kind', '=', 'migration')
    .orderBy('name')
    .execute()
}

async function headOf(trx: Trx): Promise<ArchiveHead> {
  return {
    format: ARCHIVE_FORMAT,
    service: VERSION,
    migrations: await readMigrations(trx),
    crs: await listAddedCrs(trx),
  }
}

/** Tables with rows in a new schema, which the file replaces. */
export const REFERENCE: (keyof Tables)[] = [
  'country_alias',
  'crop_alias',
  'country_crop',
  'input_composition',
  'plausible_range',
  'country',
  'crop',
  'history_removal',
]

/** Shows the share of a phase that is done. */
type ShowPhase = (phase: 'importing' | 'comparing' | 'linking') => (part: number) => void

/** Imports a file of {@link exportDatabase} into a new schema, all or nothing, and compares the tables with their sums. */
export async function importDatabase(
  db: Db,
  path: string,
  show: ShowPhase = () => () => {},
): Promise<Digests> {
  const digests = await inTransaction(db, (trx) => importInto(trx, path, show))
  // Else the first requests are planned for empty tables.
  for (const name of Object.keys(digests)) await sql`analyze ${sql.table(name)}`.execute(db)
  return digests
}

async function importInto(trx: Trx, path: string, show: ShowPhase): Promise<Digests> {
  const { head, parts, read } = await openTransferArchive(path)
  try {
    await refuseOtherSchema(trx, head)
    const relations = await listRelations(trx)
    const tables = sql.join(relations.map(({ name }) => sql.table(name)))
    await sql`lock table ${tables} in access exclusive mode`.execute(trx)
    await refuseContent(trx, relations)
    await addCrs(trx, head.crs ?? [])
    await settleText(trx)
    const foreignKeys = await listForeignKeys(trx)
    await loosen(trx, relations, foreignKeys)
    const byName = new Map(relations.map((relation) => [relation.name, relation]))
    const importing = show('importing')
    const digests = await fill(trx, byName, parts, () => importing(read()))
    await verify(trx, relations, digests, show('comparing'))
    await fasten(trx, relations, foreignKeys, show('linking'))
    return digests
  } finally {
    await parts.return(undefined)
  }
}

async function refuseOtherSchema(trx: Trx, { migrations, service }: ArchiveHead): Promise<void> {
  const ours = await readMigrations(trx)
  if (JSON.stringify(ours) === JSON.stringify(migrations)) return
  const last = migrations.at(-1)?.name
  const missing = migrations.filter(({ name }) => !ours.some((own) => own.name === name))
  if (service === VERSION && missing.length > 0) {
    const names = listSome(missing.map(({ name }) => name))
    throw new OperatorError(
      `The file has data of extensions that are not here (${names}): import it where they are.`,
      { code: 'SCHEMA' },
    )
  }
  throw new OperatorError(
    `The file was written by version ${service} with a schema up to ${last}, and this one has ${ours.at(-1)?.name}: import it with that version into a new database, and upgrade that.`,
    { code: 'SCHEMA' },
  )
}

async function refuseContent(trx: Trx, relations: Relation[]): Promise<void> {
  for (const { name } of relations) {
    if ((REFERENCE as string[]).includes(name)) continue
    const { rows } = await sql`select from ${sql.table(name)} limit 1`.execute(trx)
    if (rows.length > 0) {
      throw new OperatorError(
        `The database is not empty: ${name} has rows, of an import before or of a service with DEMO_DATA. An import needs a new one.`,
        { code: 'ALREADY_THERE' },
      )
    }
  }
}

/** Drops foreign keys, since rows come before those that they refer to, and disables triggers, which would run again. */
async function loosen(trx: Trx, relations: Relation[], foreignKeys: ForeignKey[]): Promise<void> {
  for (const name of REFERENCE) await sql`delete from ${sql.table(name)}`.execute(trx)
  // Deferred checks run now: PostgreSQL alters no table that has checks to come.
  await sql`set constraints all immediate`.execute(trx)
  for (const { table, name } of foreignKeys) {
    await sql`alter table ${sql.table(table)} drop constraint ${sql.id(name)}`.execute(trx)
  }
  for (const { name } of relations)
    await sql`alter table ${sql.table(name)} disable trigger user`.execute(trx)
}

/** Creates the foreign keys anew, which checks all rows. */
async function fasten(
  trx: Trx,
  relations: Relation[],
  foreignKeys: ForeignKey[],
  progress: (part: number) => void,
): Promise<void> {
  for (const { name } of relations) await sql`alter table ${sql.table(name)} enable trigger user`.execute(trx)
  for (const [index, { table, name, definition }] of foreignKeys.entries()) {
    const constraint = sql`constraint ${sql.id(name)} ${sql.raw(definition)}`
    await sql`alter table ${sql.table(table)} add ${constraint}`.execute(trx)
    progress((index + 1) / foreignKeys.length)
  }
}

/** It has a partition a month, and this database may lack some. */
const ITEMS: keyof Tables = 'history_item'

async function createMonths(trx: Trx, rows: string[]): Promise<void> {
  await sql`
    select create_history_months(uuid_time(id))
    from (select id from unnest(${rows}::history_item[]) order by id desc limit 1) as latest`.execute(trx)
}

async function fill(
  trx: Trx,
  relations: Map<string, Relation>,
  parts: AsyncIterable<ArchivePart>,
  progress: () => void,
): Promise<Digests> {
  const digests: Digests = {}
  let relation: Relation | undefined
  let rows: string[] = []
  let size = 0

  async function flush(): Promise<void> {
    if (rows.length > 0 && relation) {
      if (relation.name === ITEMS) await createMonths(trx, rows)
      await insert(trx, relation, rows)
    }
    rows = []
    size = 0
    progress()
  }

  for await (const part of parts) {
    if ('row' in part) {
      rows.push(part.row)
      size += part.row.length
      if (size >= PORTION) await flush()
    } else if ('table' in part) {
      relation = sameRelation(relations.get(part.table.name), part.table)
    } else if ('tableEnd' in part) {
      await flush()
      if (relation) digests[relation.name] = part.tableEnd
    } else {
      for (const sequence of part.end) await setSequence(trx, sequence)
    }
  }
  return digests
}

function requireSame(table: string, expected: Digest, found: Digest): void {
  if (expected.rows === found.rows && expected.sum === found.sum) return
  throw new OperatorError(
    `Of the table ${table}, ${found.rows} rows were read that are not the ${expected.rows} that were exported.`,
  )
}

/** Compares the tables with those of the export. */
async function verify(
  trx: Trx,
  relations: Relation[],
  digests: Digests,
  progress: (part: number) => void,
): Promise<void> {
  const none = { rows: 0, sum: '0' }
  for (const [index, { name }] of relations.entries()) {
    requireSame(name, digests[name] ?? none, await computeDigest(trx, name))
    progress((index + 1) / relations.length)
  }
}
