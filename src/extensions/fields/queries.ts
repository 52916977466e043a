import { sql } from 'kysely'
import { findLimits, holdAccount } from '#src/accounts/user-queries.ts'
import type { Config } from '#src/config.ts'
import { inTransaction, isoTime } from '#src/data/sql.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import { doAlone } from '#src/data/work-lock.ts'
import type { Position } from '#src/lookup/layers.ts'
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

const selectCollections = (db: Db, userId: string) =>
  db.selectFrom('field_collection').select(COLUMNS).where('user_id', '=', userId).where('state', '=', 'kept')

/** The collections of an account, by name. */
export async function listCollections(db: Db, userId: string): Promise<CollectionRow[]> {
  return selectCollections(db, userId).orderBy('name').execute()
}

export async function findCollection(
  db: Db,
  userId: string,
  name: string,
): Promise<CollectionRow | undefined> {
  return selectCollections(db, userId).where('name', '=', name).executeTakeFirst()
}

/** Begins a collection that is not seen yet; its id. */
export async function createDraft(db: Db, userId: string, name: string): Promise<number> {
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
const ORDER_BITS = 26

/** The order of answers: bits of longitude and latitude, one after the other (Morton, 1966), so that neighbours are mostly near. */
function computeOrder({ longitude, latitude }: Position): number {
  const steps = 2 ** ORDER_BITS - 1
  const x = Math.floor(((longitude + 180) / 360) * steps)
  const y = Math.floor(((latitude + 90) / 180) * steps)
  let order = 0
  for (let bit = ORDER_BITS - 1; bit >= 0; bit--) order = order * 4 + ((x >> bit) & 1) * 2 + ((y >> bit) & 1)
  return order
}

const POSITION_BYTES = 16

/** How much a field counts: its texts, and the positions of its shape. */
export function measureField({ id, name, properties, polygons }: NewField): number {
  const shape = polygons.flat().reduce((sum, { length }) => sum + (length / 2) * POSITION_BYTES, 0)
  return [id, name, properties].reduce((sum, text) => sum + Buffer.byteLength(text ?? ''), shape)
}

/** Of an account. */
interface FieldQuota {
  fields: number
  bytes: number
}

/** A collection whose fields are arriving. */
interface Draft {
  id: number
  userId: string
}

/** Why a draft cannot grow: over the quota, gone with its account, or for now, over what the disk has for the account. */
type Refusal = 'full' | 'gone' | 'busy'

/** An account has so many times its quota on the disk: what it has, and as much that is arriving, replaced or deleted. */
const SHARE_OF_DISK = 2

/** A draft that has not grown for so long has lost its upload, unless that is slower than 1.5 kB/s. */
const LEFT_AFTER = sql`interval '3 minutes'`

/** Works on a draft that has room for so much more, while no other one of its account grows. */
async function withRoom<Result>(
  db: Db,
  { id, userId }: Draft,
  more: FieldQuota,
  quota: FieldQuota,
  work: (trx: Trx) => Promise<Result>,
): Promise<Result | Refusal> {
  return inTransaction(db, async (trx) => {
    await holdAccount(trx, userId)
    if (!(await isDraft(trx, id))) return 'gone'
    const { rows } = await sql<FieldQuota & { stays: boolean }>`
      select
        own.id = draft.id or (own.state = 'kept' and own.name <> draft.name) as stays,
        sum(own.fields)::float8 as fields,
        sum(own.bytes)::float8 as bytes
      from field_collection as own
      join field_collection as draft on draft.id = ${id}
      where own.user_id = ${userId}
      group by stays`.execute(trx)
    const isOver = (some: FieldQuota[], times: number) =>
      (['fields', 'bytes'] as const).some(
        (key) => some.reduce((sum, one) => sum + one[key], more[key]) > times * quota[key],
      )
    const staying = rows.filter(({ stays }) => stays)
    if (isOver(staying, 1)) return 'full'
    if (!isOver(rows, SHARE_OF_DISK)) return work(trx)
    // They make room as soon as the job has removed them, and are read no more.
    await sql`
      update field_collection set state = 'gone', changed_at = '-infinity'
      where user_id = ${userId} and (
        state = 'gone' or (state = 'draft' and id <> ${id} and changed_at < now() - ${LEFT_AFTER})
      )`.execute(trx)
    return 'busy'
  })
}

/** Adds fields to a draft; the ids of the added ones, which it had no field of yet. */
export async function insertFields(
  db: Db,
  draft: Draft,
  fields: readonly NewField[],
  quota: FieldQuota,
): Promise<Set<string> | Refusal> {
  const sum = (some: readonly NewField[]) => some.reduce((bytes, field) => bytes + measureField(field), 0)
  const ids = new Set<string>()
  const own = fields.filter(({ id }) => !ids.has(id) && ids.add(id))
  const more = { fields: own.length, bytes: sum(own) }
  const shapes = own.map(({ polygons }) => encodeMultiPolygon(polygons))
  const list = <Value>(read: (field: NewField) => Value) => own.map(read)
  return withRoom(db, draft, more, quota, async (trx) => {
    const { rows } = await sql<{ id: string }>`
      insert into field (collection_id, id, place, name, properties, longitude, latitude, area_ha, shape)
      select ${draft.id}, sent.*
      from unnest(
        ${list(({ id }) => id)}::text[],
        ${list(computeOrder)}::bigint[],
        ${list(({ name }) => name)}::text[],
        ${list(({ properties }) => properties)}::text[],
        ${list(({ longitude }) => longitude)}::float8[],
        ${list(({ latitude }) => latitude)}::float8[],
        ${list(({ areaHa }) => areaHa)}::float8[],
        ${shapes}::bytea[]
      ) as sent
      on conflict do nothing
      returning id`.execute(trx)
    const added = new Set(rows.map(({ id }) => id))
    const bytes = sum(own.filter(({ id }) => added.has(id)))
    // A draft that grows is no leftover.
    await sql`
      update field_collection
      set changed_at = now(), fields = fields + ${added.size}, bytes = bytes + ${bytes}::bigint
      where id = ${draft.id}`.execute(trx)
    return added
  })
}

/** Replaces the collection of its name by a draft. */
export async function keepDraft(db: Db, draft: Draft, quota: FieldQuota, config: Config) {
  return withRoom(db, draft, { fields: 0, bytes: 0 }, quota, async (trx) => {
    await sql`
      update field_collection as old set state = 'gone', changed_at = now()
      from field_collection as draft
      where draft.id = ${draft.id} and old.user_id = draft.user_id and old.name = draft.name
        and old.state = 'kept'`.execute(trx)
    return findLimits('field_collection', config).add(trx, draft.userId, () =>
      trx
        .updateTable('field_collection')
        .set({ state: 'kept', changed_at: sql<Date>`now()` })
        .where('id', '=', draft.id)
        .returning(COLUMNS)
        .executeTakeFirstOrThrow(),
    )
  })
}

/** Locks a draft of an account that exists; false where there is none. */
async function isDraft(trx: Trx, id: number): Promise<boolean> {
  const { rows } = await sql`
    select from field_collection
    where id = ${id} and state = 'draft' and user_id in (select id from app_user)
    for update`.execute(trx)
  return rows.length > 0
}

/** How long answers that have begun may still read a replaced collection, and a draft may pause. */
const LINGERS = sql`interval '1 hour'`

/** Deletes a collection; its fields are removed soon. */
export async function deleteCollection(db: Db, userId: string, name: string): Promise<boolean> {
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
export async function dropDraft(db: Db, id: number): Promise<void> {
  await sql`
    update field_collection set state = 'gone', changed_at = '-infinity'
    where id = ${id} and state = 'draft'`.execute(db)
}

/** Every process that removes fields uses this constant. */
const REMOVAL_LOCK = 7_239_475

/** Rows of one transaction: on the embedded database others wait for it. */
const PIECE = 500

/** Deletes some fields of collections that are gone; true where more are left. */
export async function removeFieldPiece(db: Db): Promise<boolean> {
  const more = await doAlone(db, REMOVAL_LOCK, async (trx) => {
    const { rows } = await sql<{ id: number }>`
      select id from field_collection
      where state <> 'kept' and changed_at < now() - ${LINGERS}
      order by changed_at
      limit 1`.execute(trx)
    const [collection] = rows
    if (!collection) return false
    // A draft that pauses for too long cannot grow later, and pages without all of their fields have no weights.
    const { id } = collection
    await sql`update field_collection set state = 'gone' where id = ${id} and state = 'draft'`.execute(trx)
    await trx.deleteFrom('field_weights').where('collection_id', '=', id).execute()
    // By their positions in the table: a plan by ids looks at each of them for each row, where statistics are old.
    const { numAffectedRows = 0n } = await sql`
      delete from field
      where ctid = any (array(select ctid from field where collection_id = ${id} limit ${PIECE}))`.execute(
      trx,
    )
    if (numAffectedRows < BigInt(PIECE)) {
      await trx.deleteFrom('field_collection').where('id', '=', id).execute()
    }
    return true
  })
  return more ?? false
}

/** Where a page of fields begins, in the order of answers. */
export interface FieldCursor {
  place: number
  id: string
}

const FIRST: FieldCursor = { place: -1, id: '' }

const PAGE = 1000

/** A page of large fields ends earlier: others wait for the driver to read it. */
const PAGE_BYTES = 256_000

/** Reads a collection page by page, in the order of answers. */
export async function* readPages<Row extends FieldCursor>(
  read: (last: FieldCursor, limit: number) => Promise<Row[]>,
  limit = PAGE,
): AsyncGenerator<Row[]> {
  let last = FIRST
  for (;;) {
    const page = await read(last, limit)
    if (page.length === 0) return
    yield page
    last = page.at(-1) as Row
  }
}

export interface StoredField extends Field, FieldCursor {
  /** For {@link decodeMultiPolygon}; null where it was not asked for. */
  shape: Buffer | null
}

/** What is read of fields: all, no properties, or no shapes either. */
export type FieldParts = 'all' | 'shapes' | 'places'

/**
 * A page of fields after one, which is the same whatever is read of them. A collection that was replaced has them for an
 * hour.
 */
export async function listFields(
  db: Db,
  collectionId: number,
  { place, id }: FieldCursor,
  limit: number,
  parts: FieldParts = 'all',
): Promise<StoredField[]> {
  const { rows } = await sql<StoredField>`
    with page as (
      select *, sum(bytes) over (order by place, id) - bytes as bytes_before
      from (
        select *, octet_length(shape) + coalesce(octet_length(properties), 0) as bytes
        from field
        where collection_id = ${collectionId} and (place, id) > (${place}::bigint, ${id})
        order by place, id
        limit ${limit}
      ) as field
    )
    select
      id, place, name, longitude, latitude, area_ha as "areaHa",
      case when ${parts === 'all'} then properties end as properties,
      case when ${parts !== 'places'} then shape end as shape
    from page
    where bytes_before < ${PAGE_BYTES}
    order by page.place, id`.execute(db)
  return rows
}

/** The field with an id in a collection of an account. */
export async function findField(
  db: Db,
  userId: string,
  { collection, id }: { collection: string; id: string },
): Promise<NewField | undefined> {
  const { rows } = await sql<Field & { shape: Buffer }>`
    select field.id, field.name, properties, longitude, latitude, area_ha as "areaHa", shape
    from field_collection as collection
    join field on collection_id = collection.id
    where user_id = ${userId} and collection.name = ${collection} and state = 'kept'
      and field.id = ${id}`.execute(db)
  return rows.map(({ shape, ...field }) => ({ ...field, polygons: decodeMultiPolygon(shape) }))[0]
}

export interface StoredWeights {
  /** The key of the grid. */
  grid: string
  /** SHA-256 of the ids of the fields. */
  ids: Buffer
  weights: Buffer
}

/** The weights of a page of fields, by its number from 0. */
export async function listWeights(db: Db, collectionId: number, page: number): Promise<StoredWeights[]> {
  return db
    .selectFrom('field_weights')
    .select(['grid', 'ids', 'weights'])
    .where('collection_id', '=', collectionId)
    .where('page', '=', page)
    .execute()
}

/** Stores the weights of a page, unless its collection is gone. */
export async function insertWeights(
  db: Db,
  collectionId: number,
  page: number,
  { grid, ids, weights }: StoredWeights,
): Promise<void> {
  await sql`
    insert into field_weights (collection_id, page, grid, ids, weights)
    select id, ${page}::integer, ${grid}, ${ids}::bytea, ${weights}::bytea
    from field_collection where id = ${collectionId} and state = 'kept'
    for share
    on conflict (collection_id, page, grid)
    do update set ids = excluded.ids, weights = excluded.weights`.execute(db)
}

/** A page of positions, as of {@link listFields}. */
export async function listPositions(
  db: Db,
  collectionId: number,
  { place, id }: FieldCursor,
  limit: number,
): Promise<(FieldCursor & Position)[]> {
  const { rows } = await sql<FieldCursor & Position>`
    select id, place, longitude, latitude
    from field
    where collection_id = ${collectionId} and (place, id) > (${place}::bigint, ${id})
    order by place, id
    limit ${limit}`.execute(db)
  return rows
}
