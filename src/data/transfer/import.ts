import { type Kysely, sql, type Transaction } from 'kysely'
import { OperatorError } from '#src/errors.ts'
import { addCrs } from '../crs.ts'
import { inTransaction } from '../sql.ts'
import type { Tables } from '../tables.ts'
import {
  type ArchiveHead,
  type ArchivePart,
  type Digest,
  digestOf,
  type ForeignKey,
  listForeignKeys,
  listRelations,
  listSizes,
  openArchive,
  type Relation,
  RowDigest,
  type SequenceState,
  setSequence,
  settleText,
} from './archive.ts'
import { type Digests, readMigrations } from './export.ts'

/** In what a new schema has rows: those of the file take their place. */
const REFERENCE: (keyof Tables)[] = [
  'country_alias',
  'crop_alias',
  'country_crop',
  'input_composition',
  'plausible_range',
  'country',
  'crop',
  'history_removal',
]

/** Makes what shows how far a phase of an import is. */
type ShowPhase = (phase: 'importing' | 'linking' | 'comparing') => (part: number) => void

/**
 * Reads what {@link exportDatabase} has written into a database whose schema is new, all or nothing, and compares
 * what is in it then with what was exported.
 *
 * @param show has each phase of it shown: is called with which part of it is done, from 0 to 1
 * @throws {OperatorError} where the file is not whole, is of another schema, or the database is not empty
 */
export async function importDatabase(
  db: Kysely<Tables>,
  path: string,
  show: ShowPhase = () => () => {},
): Promise<Digests> {
  const digests = await inTransaction(db, (trx) => importInto(trx, path, show))
  // Else the first requests are planned for empty tables.
  for (const name of Object.keys(digests)) await sql`analyze ${sql.table(name)}`.execute(db)
  return digests
}

async function importInto(trx: Transaction<Tables>, path: string, show: ShowPhase): Promise<Digests> {
  const { head, parts, read } = await openArchive(path)
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
    await fasten(trx, relations, foreignKeys, show('linking'))
    await verify(trx, relations, digests, show('comparing'))
    return digests
  } finally {
    await parts.return(undefined)
  }
}

async function refuseOtherSchema(
  trx: Transaction<Tables>,
  { migrations, service }: ArchiveHead,
): Promise<void> {
  const ours = await readMigrations(trx)
  if (JSON.stringify(ours) === JSON.stringify(migrations)) return
  const last = migrations.at(-1)?.name
  throw new OperatorError(
    `The file was written by version ${service} with a schema up to ${last}, and this one has ${ours.at(-1)?.name}: import it with that version into a new database, and upgrade that.`,
    { code: 'SCHEMA' },
  )
}

async function refuseContent(trx: Transaction<Tables>, relations: Relation[]): Promise<void> {
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

/**
 * Rows come table by table, and refer to others that are not there yet; and triggers would count and change what has
 * been counted and changed before. Both need the owner of the tables, and no superuser.
 */
async function loosen(
  trx: Transaction<Tables>,
  relations: Relation[],
  foreignKeys: ForeignKey[],
): Promise<void> {
  for (const name of REFERENCE) await sql`delete from ${sql.table(name)}`.execute(trx)
  // What is deferred is done now: PostgreSQL alters no table that has checks to come.
  await sql`set constraints all immediate`.execute(trx)
  for (const { table, name } of foreignKeys) {
    await sql`alter table ${sql.table(table)} drop constraint ${sql.id(name)}`.execute(trx)
  }
  for (const { name } of relations)
    await sql`alter table ${sql.table(name)} disable trigger user`.execute(trx)
}

/** Foreign keys are made anew, which checks all rows. */
async function fasten(
  trx: Transaction<Tables>,
  relations: Relation[],
  foreignKeys: ForeignKey[],
  progress: (part: number) => void,
): Promise<void> {
  for (const { name } of relations) await sql`alter table ${sql.table(name)} enable trigger user`.execute(trx)
  for (const [index, { table, name, definition }] of foreignKeys.entries()) {
    await sql`alter table ${sql.table(table)} add constraint ${sql.id(name)} ${sql.raw(definition)}`.execute(
      trx,
    )
    progress((index + 1) / foreignKeys.length)
  }
}

/** It has a partition for each month, and items may be of some that this database has not come to. */
const ITEMS: keyof Tables = 'history_item'

async function createMonths(trx: Transaction<Tables>, rows: string[]): Promise<void> {
  await sql`
    select create_history_months(uuid_time(id))
    from (select id from unnest(${rows}::history_item[]) order by id desc limit 1) as latest`.execute(trx)
}

/** A statement has about so many characters of rows, or one row. */
const PORTION = 1024 * 1024

async function fill(
  trx: Transaction<Tables>,
  relations: Map<string, Relation>,
  parts: AsyncIterable<ArchivePart>,
  tell: () => void,
): Promise<Digests> {
  const digests: Digests = {}
  let relation: Relation | undefined
  let digest = new RowDigest()
  let rows: string[] = []
  let size = 0

  async function flush(): Promise<void> {
    if (rows.length > 0 && relation) {
      if (relation.name === ITEMS) await createMonths(trx, rows)
      await insert(trx, relation, rows)
    }
    rows = []
    size = 0
    tell()
  }

  for await (const part of parts) {
    if ('row' in part) {
      digest.add(part.row)
      rows.push(part.row)
      size += part.row.length
      if (size >= PORTION) await flush()
    } else if ('table' in part) {
      relation = sameRelation(relations.get(part.table.name), part.table)
      digest = new RowDigest()
    } else if ('tableEnd' in part) {
      await flush()
      if (relation) digests[relation.name] = sameDigest(relation.name, part.tableEnd, digest.end())
    } else {
      await setSequences(trx, part.end)
    }
  }
  return digests
}

function sameRelation(ours: Relation | undefined, { name, columns }: Omit<Relation, 'generated'>): Relation {
  if (ours && ours.columns.join() === columns.join()) return ours
  throw new OperatorError(
    `The table ${name} of the file is not as it is here: one of both was changed by hand.`,
  )
}

function sameDigest(table: string, expected: Digest, found: Digest): Digest {
  if (expected.rows === found.rows && expected.sum === found.sum) return found
  throw new OperatorError(
    `Of the table ${table}, ${found.rows} rows were read that are not the ${expected.rows} that were exported.`,
  )
}

/** Rows of a type of the table's own are taken apart by the database, by the same rules by which it wrote them. */
async function insert(
  trx: Transaction<Tables>,
  { name, columns, generated }: Relation,
  rows: string[],
): Promise<void> {
  const written = sql.join(
    columns.filter((column) => !generated.includes(column)).map((column) => sql.ref(column)),
  )
  await sql`
    insert into ${sql.table(name)} (${written}) overriding system value
    select ${written} from unnest(${rows}::${sql.table(name)}[])`.execute(trx)
}

async function setSequences(trx: Transaction<Tables>, sequences: SequenceState[]): Promise<void> {
  for (const sequence of sequences) await setSequence(trx, sequence)
}

/** Asks the database what it has now: what went over the wire proves nothing about that. */
async function verify(
  trx: Transaction<Tables>,
  relations: Relation[],
  digests: Digests,
  progress: (part: number) => void,
): Promise<void> {
  const none = new RowDigest().end()
  const sizes = await listSizes(trx, relations)
  const all = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  let done = 0
  for (const { name } of relations) {
    sameDigest(name, digests[name] ?? none, await digestOf(trx, name))
    done += sizes.get(name) ?? 0
    progress(done / all)
  }
}
