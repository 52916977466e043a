import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { AdvisoryRecord } from './queries.ts'

/** How much is kept of one account: requests and answers are counted by their length. */
export interface HistoryQuota {
  items: number
  bytes: number
  /** What happens to what is more: the oldest items go, or the new ones are not kept. */
  full: 'oldest' | 'refuse'
}

/** An advisory as it is written, with its request and answer as JSON. */
export interface HistoryEntry extends Omit<AdvisoryRecord, 'request' | 'answer'> {
  id: string
  request: string
  answer: string
  /** Of request and answer. */
  bytes: number
}

/** What has become of an advisory that was to be kept. */
export interface Written {
  id: string
  /** Whether it is kept. */
  kept: boolean
  /** What its history held before the statement. */
  held: { items: number; bytes: number }
}

/**
 * Adds advisories to their callers' histories and counts them, in one statement. How much a history holds is
 * known from before the statement: what arrives together goes in together, where new ones are refused.
 *
 * Callers whose accounts are gone, or are locked as they are just being deleted, are passed over: waiting for the
 * deletion would make all the others wait. The counts are changed in one order everywhere, so that two processes
 * never wait for each other.
 *
 * @returns what has become of those that were not passed over
 */
export async function insertAdvisories(
  db: Kysely<Tables>,
  entries: HistoryEntry[],
  quota: HistoryQuota,
): Promise<Written[]> {
  const column = <Key extends keyof HistoryEntry>(key: Key) => entries.map((entry) => entry[key])
  // No code of a release has a space in it; a list of lists would have to be rectangular.
  const releases = entries.map((entry) => entry.releases.join(' '))
  const roomLeft =
    quota.full === 'oldest'
      ? sql`true`
      : sql`coalesce(items, 0) < ${quota.items}::bigint and coalesce(size.bytes, 0) < ${quota.bytes}::bigint`
  const { rows } = await sql<{ id: string; kept: boolean; items: number; bytes: number }>`
    with arriving as materialized (
      select
        id, user_id, kind, product, country_code, crop_named(crop_code) as crop_code, releases, request,
        answer, bytes, clock_timestamp() as created_at
      from unnest(
        ${column('id')}::uuid[], ${column('userId')}::uuid[], ${column('kind')}::text[],
        ${column('product')}::text[], ${column('countryCode')}::text[], ${column('cropCode')}::text[],
        ${releases}::text[], ${column('request')}::text[], ${column('answer')}::text[],
        ${column('bytes')}::integer[]
      ) as arriving (
        id, user_id, kind, product, country_code, crop_code, releases, request, answer, bytes
      )
    ),
    living as materialized (
      select
        id, ${roomLeft} as kept, coalesce(items, 0) as items_held, coalesce(size.bytes, 0) as bytes_held
      from app_user left join history_size as size on size.user_id = id
      where id in (select user_id from arriving)
      for key share of app_user skip locked
    ),
    accepted as materialized (
      select arriving.*, kept, items_held, bytes_held from arriving join living on living.id = arriving.user_id
    ),
    counted as (
      insert into user_usage as usage (user_id, day, product, country_code, crop_code, advisories)
      select user_id, (created_at at time zone 'UTC')::date as day, product, country_code, crop_code, count(*)
      from accepted
      where kept
      group by user_id, day, product, country_code, crop_code
      order by user_id, day, product, country_code, crop_code
      on conflict (user_id, day, product, country_code, crop_code)
        do update set advisories = usage.advisories + excluded.advisories
    ),
    added as (
      insert into advisory_history (
        id, user_id, created_at, kind, product, country_code, crop_code, releases, request, answer, bytes
      )
      select
        id, user_id, created_at, kind, product, country_code, crop_code, string_to_array(releases, ' '),
        request::json, answer::json, bytes
      from accepted
      where kept
    )
    select id, kept, items_held as items, bytes_held as bytes from accepted`.execute(db)
  return rows.map(({ id, kept, ...held }) => ({ id, kept, held }))
}

/** Which of some accounts are there, whether or not they are locked. */
export async function findAccounts(db: Kysely<Tables>, ids: string[]): Promise<Set<string>> {
  const found = await db.selectFrom('app_user').select('id').where('id', 'in', ids).execute()
  return new Set(found.map(({ id }) => id))
}

/**
 * A history that is shortened is so to this part of what is kept: it need not be for each item that is added
 * from then on.
 */
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
  const { numAffectedRows } = await sql`
    delete from advisory_history
    where id in (
      select oldest.id
      from (
        select id, row_number() over oldest_first - 1 as items, sum(bytes) over oldest_first - bytes as bytes
        from (
          select id, created_at, bytes from advisory_history
          where user_id = ${userId}
          order by created_at, id
          limit ${limit}
        ) as item
        window oldest_first as (order by created_at, id)
      ) as oldest
      join history_size as size on size.user_id = ${userId}
      -- It goes where what is left without the older ones is still too much.
      where size.items - oldest.items > ${Math.floor(quota.items * SHORTENED_TO)}::bigint
        or size.bytes - oldest.bytes > ${Math.floor(quota.bytes * SHORTENED_TO)}::bigint
    )`.execute(db)
  return Number(numAffectedRows)
}
