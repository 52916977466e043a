import { CompiledQuery, sql } from 'kysely'
import type { Db } from '#src/data/tables.ts'
import type { AdvisoryRecord } from './keep-answer.ts'

/** Of an account; requests and answers count by their length. */
export interface HistoryQuota {
  items: number
  bytes: number
  full: 'oldest' | 'refuse'
}

/** What items of one subject and of the same releases share. */
export interface ItemSource {
  /** As text: no number of ours is as exact. */
  templateId: string
  subjectId: number
}

/** Stores the source of an item where it is new. Version 1.2.0, which may run beside this one, names a crop and pieces, too. */
export async function findSource(
  db: Db,
  { product, kind, countryCode, releases }: AdvisoryRecord,
): Promise<ItemSource> {
  const { rows } = await sql<ItemSource>`
    select template_id::text as "templateId", subject_id as "subjectId"
    from answer_template_of(${product}, ${kind}, ${countryCode}, null, ${releases}::text[], null)`.execute(db)
  return rows[0] as ItemSource
}

export interface HistoryEntry extends ItemSource {
  id: string
  userId: string
  cropCode: string | null
  /** JSON. */
  request: string
  /** JSON. */
  answer: string
  /** Of request and answer. */
  bytes: number
}

export interface Written {
  userId: string
  kept: boolean
  /** Before the statement. */
  items: number
  bytes: number
}

/** Compiled once: it is asked for every call with a token. */
const KEEP = `
  select user_id as "userId", kept, items, bytes
  from keep_history_items(
    $1, $2, $3, $4, $5, $6, string_to_array($7, E'\\x1e'), string_to_array($8, E'\\x1e'), $9, $10
  )`

/** JSON escapes it. Lists, which escape each quote, take longer on both sides. */
const SEPARATOR = '\x1e'

/** Stores and counts items. Locked and deleted accounts are left out; quotas look at the sizes before. */
export async function insertAdvisories(
  db: Db,
  entries: HistoryEntry[],
  quota: HistoryQuota,
): Promise<Written[]> {
  const column = <Key extends keyof HistoryEntry>(key: Key) => entries.map((entry) => entry[key])
  const { items, bytes, full } = quota
  const most = full === 'oldest' ? [null, null] : [items, bytes]
  const { rows } = await db.executeQuery<Written>(
    CompiledQuery.raw(KEEP, [
      list(column('id')),
      list(column('userId')),
      list(column('subjectId')),
      list(column('templateId')),
      list(column('bytes')),
      // Without a list there is none for any of them.
      entries.some(({ cropCode }) => cropCode !== null) ? column('cropCode') : null,
      column('request').join(SEPARATOR),
      column('answer').join(SEPARATOR),
      ...most,
    ]),
  )
  return rows
}

/** A list of PostgreSQL, of values without quotes. */
function list(values: (string | number)[]): string {
  return `{${values.join()}}`
}

/** Reads a row for each account. */
export async function sumHistories(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(bytes), 0)::float8 as bytes from history_size`.execute(db)
  return rows[0]?.bytes ?? 0
}

/** Of existing accounts, also locked ones. */
export async function findAccounts(db: Db, ids: string[]): Promise<Set<string>> {
  const found = await db.selectFrom('app_user').select('id').where('id', 'in', ids).execute()
  return new Set(found.map(({ id }) => id))
}

/** The next items need no shortening then. */
const SHORTENED_TO = 0.98

/** Deletes up to a limit of the oldest items over the quota, with their feedback; gives their number. */
export async function deleteOldest(
  db: Db,
  userId: string,
  quota: HistoryQuota,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    with item as materialized (
      select id, bytes from oldest_history_items(${userId}, ${limit})
    ),
    excess as materialized (
      select oldest.id
      from (
        select id, row_number() over oldest_first - 1 as items, sum(bytes) over oldest_first - bytes as bytes
        from item
        window oldest_first as (order by id)
      ) as oldest
      join history_size as size on size.user_id = ${userId}
      -- It goes where what is left without the older ones is still too much.
      where (
          size.items - oldest.items > ${Math.floor(quota.items * SHORTENED_TO)}::bigint
          or size.bytes - oldest.bytes > ${Math.floor(quota.bytes * SHORTENED_TO)}::bigint
        )
        -- The size may still have a month in it that is being dropped.
        and not exists (select from history_item_going)
    ),
    -- Found one by one: all items of the account would be read otherwise.
    deleted as (
      delete from history_item where user_id = ${userId} and id = any (array(select id from excess))
    )
    select count(*) as deleted from excess`.execute(db)
  return rows[0]?.deleted ?? 0
}
