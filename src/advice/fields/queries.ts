import { type Kysely, sql, type Transaction } from 'kysely'
import { holdAccount } from '#src/accounts/user-queries.ts'
import { inTransaction, isoTime } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import { doAlone } from '#src/data/work-lock.ts'
import type { Position } from '#src/lookup/queries.ts'
import type { Rings } from '#src/raster/rings.ts'
import { decodeMultiPolygon, encodeMultiPolygon } from '#src/raster/tiles.ts'

export interface CollectionRow {
  id: number
  collection: string
  fields: number
  bytes: number
  changed_at: string
}

const COLUMNS = [
  'id',
  'name as collection',
  'fields',
  'bytes',
  isoTime('changed_at').as('changed_at'),
] as const

const selectKept = (db: Kysely<Tables>, userId: string) =>
  db.selectFrom('field_collection').select(COLUMNS).where('user_id', '=', userId).where('state', '=', 'kept')

/** The collections of an account, by name. */
export async function listCollections(db: Kysely<Tables>, userId: string): Promise<CollectionRow[]> {
  return selectKept(db, userId).orderBy('name').execute()
}

export async function findCollection(
  db: Kysely<Tables>,
  userId: string,
  name: string,
): Promise<CollectionRow | undefined> {
  return selectKept(db, userId).where('name', '=', name).executeTakeFirst()
}

/** Begins a collection that is not seen yet; its id. */
export async function createDraft(db: Kysely<Tables>, userId: string, name: string): Promise<number> {
  const { id } = await db
    .insertInto('field_collection')
    .values({ user_id: userId, name })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** A field, and a position inside. */
export interface Field extends Position {
  id: string
  name: string | null
  /** JSON. */
  properties: string | null
  areaHa: number
}

export interface NewField extends Field {
  polygons: Rings[]
}

/** Bits of each coordinate: together they fit into a double, and a step is 60 cm. */
const PLACE_BITS = 26

/** The order of answers: bits of longitude and latitude by turns (Morton, 1966), so that neighbours are mostly near. */
function computePlace({ longitude, latitude }: Position): number {
  const steps = 2 ** PLACE_BITS - 1
  const x = Math.floor(((longitude + 180) / 360) * steps)
  const y = Math.floor(((latitude + 90) / 180) * steps)
  let place = 0
  for (let bit = PLACE_BITS - 1; bit >= 0; bit--) place = place * 4 + ((x >> bit) & 1) * 2 + ((y >> bit) & 1)
  return place
}

const POSITION_BYTES = 16

/** How much a field counts: its texts, and the positions of its shape. */
export function measureField({ id, name, properties, polygons }: NewField): number {
  const shape = polygons.flat().reduce((sum, { length }) => sum + (length / 2) * POSITION_BYTES, 0)
  return [id, name, properties].reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), shape)
}

/** Adds fields to a draft; the ids of the added ones, which it had no field of yet. Undefined where the draft was removed. */
export async function insertFields(
  db: Kysely<Tables>,
  collectionId: number,
  fields: readonly NewField[],
): Promise<Set<string> | undefined> {
  const shapes = fields.map(({ polygons }) => encodeMultiPolygon(polygons))
  const list = <Value>(read: (field: NewField) => Value) => fields.map(read)
  const { rows } = await sql<{ id: string | null }>`
    -- A draft that grows is no leftover.
    with draft as (
      update field_collection set changed_at = now()
      where id = ${collectionId} and state = 'draft'
      returning id
    ),
    added as (
      insert into field (collection_id, id, place, name, properties, longitude, latitude, area_ha, shape)
      select draft.id, sent.*
      from draft, unnest(
        ${list(({ id }) => id)}::text[],
        ${list(computePlace)}::bigint[],
        ${list(({ name }) => name)}::text[],
        ${list(({ properties }) => properties)}::text[],
        ${list(({ longitude }) => longitude)}::float8[],
        ${list(({ latitude }) => latitude)}::float8[],
        ${list(({ areaHa }) => areaHa)}::float8[],
        ${shapes}::bytea[]
      ) as sent
      on conflict do nothing
      returning id
    )
    select added.id from draft left join added on true`.execute(db)
  return rows.length === 0 ? undefined : new Set(rows.flatMap(({ id }) => id ?? []))
}

/** Of an account. */
export interface FieldQuota {
  fields: number
  bytes: number
}

/** Puts a draft in the place of the collection of its name; or says why not: over the quota, or gone with its account. */
export async function keepDraft(
  db: Kysely<Tables>,
  { id, userId, fields, bytes }: { id: number; userId: string } & FieldQuota,
  quota: FieldQuota,
): Promise<CollectionRow | 'full' | 'gone'> {
  return inTransaction(db, async (trx) => {
    // The lock makes simultaneous collections count each other.
    await holdAccount(trx, userId)
    if (!(await isDraft(trx, id))) return 'gone'
    const others = await sumOthers(trx, userId, id)
    if (others.fields + fields > quota.fields || others.bytes + bytes > quota.bytes) return 'full'
    // One of before may still be read, and no more of a name: replacements would fill the disk.
    await sql`
      update field_collection as older set changed_at = '-infinity'
      from field_collection as draft
      where draft.id = ${id} and older.user_id = draft.user_id and older.name = draft.name and older.state = 'gone'`.execute(
      trx,
    )
    await sql`
      update field_collection as old set state = 'gone', changed_at = now()
      from field_collection as draft
      where draft.id = ${id} and old.user_id = draft.user_id and old.name = draft.name and old.state = 'kept'`.execute(
      trx,
    )
    return trx
      .updateTable('field_collection')
      .set({ state: 'kept', fields, bytes, changed_at: sql<Date>`now()` })
      .where('id', '=', id)
      .returning(COLUMNS)
      .executeTakeFirstOrThrow()
  })
}

/** Locks a draft of an account that exists; false where there is none. */
async function isDraft(trx: Transaction<Tables>, id: number): Promise<boolean> {
  const { rows } = await sql`
    select from field_collection
    where id = ${id} and state = 'draft' and user_id in (select id from app_user)
    for update`.execute(trx)
  return rows.length > 0
}

/** The sizes of the kept collections of an account but that of the name of a draft. */
async function sumOthers(trx: Transaction<Tables>, userId: string, draftId: number): Promise<FieldQuota> {
  const { rows } = await sql<FieldQuota>`
    select coalesce(sum(fields), 0)::float8 as fields, coalesce(sum(bytes), 0)::float8 as bytes
    from field_collection
    where user_id = ${userId} and state = 'kept'
      and name <> (select name from field_collection where id = ${draftId})`.execute(trx)
  return rows[0] as FieldQuota
}

/** How long answers that have begun may still read a replaced collection, and a draft may pause. */
const LINGERS = sql`interval '1 hour'`

/** Deletes a collection; its fields are removed soon. */
export async function deleteCollection(db: Kysely<Tables>, userId: string, name: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('field_collection')
    .set({ state: 'gone', changed_at: sql<Date>`'-infinity'` })
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .where('state', '=', 'kept')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Gives up a draft. */
export async function dropDraft(db: Kysely<Tables>, id: number): Promise<void> {
  await sql`
    update field_collection set state = 'gone', changed_at = '-infinity'
    where id = ${id} and state = 'draft'`.execute(db)
}

/** Every process that removes fields uses this constant. */
const REMOVAL_LOCK = 7_239_475

/** Rows of one transaction: on the embedded database others wait for it. */
const PIECE = 500

/** Deletes some fields of collections that are gone; true where more are left. */
export async function removeFieldPiece(db: Kysely<Tables>): Promise<boolean> {
  const more = await doAlone(db, REMOVAL_LOCK, async (trx) => {
    const { rows } = await sql<{ id: number }>`
      select id from field_collection
      where state <> 'kept' and changed_at < now() - ${LINGERS}
      order by changed_at
      limit 1`.execute(trx)
    const [collection] = rows
    if (!collection) return false
    // A draft that pauses for too long is not kept later, and pages without all of their fields have no weights.
    await sql`update field_collection set state = 'gone' where id = ${collection.id} and state = 'draft'`.execute(
      trx,
    )
    await trx.deleteFrom('field_weights').where('collection_id', '=', collection.id).execute()
    const { numAffectedRows = 0n } = await sql`
      delete from field
      where collection_id = ${collection.id} and id in (
        select id from field where collection_id = ${collection.id} limit ${PIECE}
      )`.execute(trx)
    if (numAffectedRows < BigInt(PIECE)) {
      await trx.deleteFrom('field_collection').where('id', '=', collection.id).execute()
    }
    return true
  })
  return more ?? false
}

/** Where a page of fields begins, in the order of answers. */
export interface FieldPlace {
  place: number
  id: string
}

const FIRST_PLACE: FieldPlace = { place: -1, id: '' }

const PAGE = 1000

/** A page of large shapes ends earlier. */
const PAGE_BYTES = 4_000_000

/** Reads a collection page by page, in the order of answers. */
export async function* readPages<Row extends FieldPlace>(
  read: (last: FieldPlace, limit: number) => Promise<Row[]>,
  limit = PAGE,
): AsyncGenerator<Row[]> {
  let last = FIRST_PLACE
  for (;;) {
    const page = await read(last, limit)
    if (page.length === 0) return
    yield page
    last = page.at(-1) as Row
  }
}

export type StoredField = Field & FieldPlace & { polygons: Rings[] }

/** A page of fields after one. A collection that was replaced has them for an hour. */
export async function listFields(
  db: Kysely<Tables>,
  collectionId: number,
  { place, id }: FieldPlace,
  limit: number,
): Promise<StoredField[]> {
  const { rows } = await sql<Omit<StoredField, 'polygons'> & { shape: Buffer }>`
    with page as (
      select *, sum(octet_length(shape)) over (order by place, id) - octet_length(shape) as bytes_before
      from (
        select * from field
        where collection_id = ${collectionId} and (place, id) > (${place}::bigint, ${id})
        order by place, id
        limit ${limit}
      ) as field
    )
    select id, place, name, properties, longitude, latitude, area_ha as "areaHa", shape
    from page
    where bytes_before < ${PAGE_BYTES}
    order by page.place, id`.execute(db)
  return rows.map(({ shape, ...field }) => ({ ...field, polygons: decodeMultiPolygon(shape) }))
}

/** The field with an id in a collection of an account. */
export async function findField(
  db: Kysely<Tables>,
  userId: string,
  { collection, id }: { collection: string; id: string },
): Promise<(Field & { polygons: Rings[] }) | undefined> {
  const { rows } = await sql<Field & { shape: Buffer }>`
    select field.id, field.name, properties, longitude, latitude, area_ha as "areaHa", shape
    from field_collection as collection
    join field on collection_id = collection.id
    where user_id = ${userId} and collection.name = ${collection} and state = 'kept'
      and field.id = ${id}`.execute(db)
  const [found] = rows
  if (!found) return undefined
  const { shape, ...field } = found
  return { ...field, polygons: decodeMultiPolygon(shape) }
}

interface PageOfFields {
  /** From 0. */
  page: number
  /** SHA-256 of its ids. */
  ids: Buffer
}

export interface StoredWeights {
  /** The key of the grid. */
  grid: string
  weights: Buffer
}

/** The weights of a page of fields, by its number and its ids. */
export async function listWeights(
  db: Kysely<Tables>,
  collectionId: number,
  { page, ids }: PageOfFields,
): Promise<StoredWeights[]> {
  return db
    .selectFrom('field_weights')
    .select(['grid', 'weights'])
    .where('collection_id', '=', collectionId)
    .where('page', '=', page)
    .where('ids', '=', ids)
    .execute()
}

/** Keeps the weights of a page, unless its collection is gone. */
export async function insertWeights(
  db: Kysely<Tables>,
  collectionId: number,
  { page, ids }: PageOfFields,
  { grid, weights }: StoredWeights,
): Promise<void> {
  await sql`
    insert into field_weights (collection_id, page, grid, ids, weights)
    select id, ${page}::integer, ${grid}, ${ids}::bytea, ${weights}::bytea
    from field_collection where id = ${collectionId} and state = 'kept'
    for share
    on conflict (collection_id, page, grid) do update set ids = excluded.ids, weights = excluded.weights`.execute(
    db,
  )
}

/** A page of positions, as of {@link listFields}. */
export async function listPositions(
  db: Kysely<Tables>,
  collectionId: number,
  { place, id }: FieldPlace,
  limit: number,
): Promise<(FieldPlace & Position)[]> {
  const { rows } = await sql<FieldPlace & Position>`
    select id, place, longitude, latitude
    from field
    where collection_id = ${collectionId} and (place, id) > (${place}::bigint, ${id})
    order by place, id
    limit ${limit}`.execute(db)
  return rows
}
