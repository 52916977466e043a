import { CompiledQuery, type Kysely, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { type AdvisoryRecord, TemplatedAnswer } from './queries.ts'

/** The most of one account: requests and answers count by their length. */
export interface HistoryQuota {
  items: number
  bytes: number
  /** The way to stay within: delete the oldest items, or refuse new ones. */
  full: 'oldest' | 'refuse'
}

/** A template, as items name it. */
export interface StoredTemplate {
  /** As text: no number of ours is as exact. */
  templateId: string
  subjectId: number
}

/** Stores the template of an answer, unless it is there. */
export async function findTemplate(db: Kysely<Tables>, record: AdvisoryRecord): Promise<StoredTemplate> {
  const { product, kind, countryCode, cropCode, releases, answer } = record
  const pieces = answer instanceof TemplatedAnswer ? answer.template.pieces : null
  // An answer without template may have an unknown crop, which its item stores.
  const crop = pieces === null ? null : cropCode
  const { rows } = await sql<StoredTemplate>`
    select template_id::text as "templateId", subject_id as "subjectId"
    from answer_template_of(
      ${product}, ${kind}, ${countryCode}, ${crop}, ${releases}::text[], ${pieces}::text[]
    )`.execute(db)
  return rows[0] as StoredTemplate
}

/** An advisory as it is written. */
export interface HistoryEntry extends StoredTemplate {
  id: string
  userId: string
  /** As the request has it; null where the template says it. */
  cropCode: string | null
  /** JSON. */
  request: string
  /** JSON, or what its template lacks. */
  answer: string
  /** Of request and answer, as JSON. */
  bytes: number
}

/** What has become of the advisories of a user that were to be kept. */
export interface Written {
  userId: string
  /** Whether they are kept. */
  kept: boolean
  /** What the history held before the statement. */
  items: number
  bytes: number
}

/** Compiled once: it is asked for every call with a token. */
const KEEP = `
  select user_id as "userId", kept, items, bytes
  from keep_history_items(
    $1, $2, $3, $4, $5, $6, string_to_array($7, E'\\x1e'), string_to_array($8, E'\\x1e'), $9, $10
  )`

/** What separates texts: JSON has it escaped. Lists, in which each quote would have to be, take longer on both sides. */
const SEPARATOR = '\x1e'

/**
 * Adds advisories to their callers' histories and counts them, in one statement. How much a history holds is
 * known from before the statement: what arrives together goes in together, where new ones are refused.
 *
 * @returns what has become of those that were not passed over: see `keep_history_items`
 */
export async function insertAdvisories(
  db: Kysely<Tables>,
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

/** As PostgreSQL writes lists, of what has nothing in it that would have to be escaped. */
function list(values: (string | number)[]): string {
  return `{${values.join()}}`
}

/** How much the histories of all accounts hold together, in bytes as they are counted: a row for each account is read. */
export async function sumHistories(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(bytes), 0)::float8 as bytes from history_size`.execute(db)
  return rows[0]?.bytes ?? 0
}

/** Which of some accounts are there, whether or not they are locked. */
export async function findAccounts(db: Kysely<Tables>, ids: string[]): Promise<Set<string>> {
  const found = await db.selectFrom('app_user').select('id').where('id', 'in', ids).execute()
  return new Set(found.map(({ id }) => id))
}

/** The share of the quota that a shortened history has, so that the next items need no shortening. */
const SHORTENED_TO = 0.98

/**
 * Deletes the oldest items of a history that holds more than is kept of an account, with their feedback.
 *
 * @param limit so many at most
 * @returns how many were deleted
 */
export async function deleteOldest(
  db: Kysely<Tables>,
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
