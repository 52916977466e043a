import { type RawBuilder, sql } from 'kysely'
import type { Db, Trx } from '#src/data/tables.ts'
import { doAlone } from '#src/data/work-lock.ts'

/** Every process that drops months uses this constant. */
const RETENTION_LOCK = 7_239_448

/** Items that one transaction counts, without deleting rows. */
const COUNTED_PIECE = 2000

/** Items that one transaction deletes: the embedded database lets others wait meanwhile. */
const DELETED_PIECE = 500

const ACCOUNTS = 500

/** Where a walk through all accounts begins and ends. */
export const FIRST_ACCOUNT = '00000000-0000-0000-0000-000000000000'
export const END_OF_ACCOUNTS = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Detaches the oldest expired month, counts a piece of it away, or drops it; true where more is left. */
export async function dropMonthPiece(db: Db, months: number | undefined): Promise<boolean> {
  const more = await doAlone(db, RETENTION_LOCK, async (trx) => {
    if (await isMonthGoing(trx)) {
      if ((await countAway(trx)) === 0) await sql`select drop_history_month()`.execute(trx)
      return true
    }
    if (months === undefined) return false
    const { rows } = await sql<{ detached: string | null }>`
      select detach_history_month(${oldestKept(months)}) as detached`.execute(trx)
    return rows[0]?.detached !== null
  })
  return more ?? false
}

/** Deletes expired items of imports; gives the next account, undefined while another process is at it. */
export async function deleteOldItems(db: Db, months: number, from: string): Promise<string | undefined> {
  return doAlone(db, RETENTION_LOCK, async (trx) => {
    const accounts = await lookAtAccounts(trx, months, from)
    const first = accounts.find(({ hasOld }) => hasOld)
    if (first) {
      await deletePiece(trx, months, first.userId)
      return first.userId
    }
    return accounts.length < ACCOUNTS ? END_OF_ACCOUNTS : accounts.at(-1)?.userId
  })
}

/** Begin of the oldest stored month, by the slower clock: a wrong one must not cost a history. */
function oldestKept(months: number): RawBuilder<Date> {
  const now = sql`least(now(), ${new Date().toISOString()}::timestamptz) at time zone 'UTC'`
  return sql`(date_trunc('month', ${now}) - make_interval(months => ${months}::integer)) at time zone 'UTC'`
}

/** Whether a detached month is left. */
const MONTH_IS_GOING = sql<boolean>`(
  exists (select from pg_inherits where inhparent = 'history_item_going'::regclass)
  or exists (select from history_item_going)
)`

async function isMonthGoing(trx: Trx): Promise<boolean> {
  const { rows } = await sql`select where ${MONTH_IS_GOING}`.execute(trx)
  return rows.length > 0
}

/** Subtracts the next items of the detached month, and deletes their feedback and shares. */
async function countAway(trx: Trx): Promise<number> {
  const { rows } = await sql<{ items: number }>`
    with piece as materialized (
      select item.*
      from history_removal as removal
      cross join lateral (
        select user_id, id, bytes from history_item_going
        where (user_id, id) > (removal.user_id, removal.id)
        order by user_id, id
        limit ${COUNTED_PIECE}
      ) as item
    ),
    -- In one order everywhere, so that two processes never wait for each other.
    locked as materialized (
      select user_id from history_size
      where user_id in (select user_id from piece)
      order by user_id
      for update
    ),
    counted as (
      update history_size as size
      set items = size.items - gone.items, bytes = size.bytes - gone.bytes
      from (select user_id, count(*) as items, sum(bytes) as bytes from piece group by user_id) as gone
      where size.user_id = gone.user_id and size.user_id in (select user_id from locked)
    ),
    -- Found one by one: all feedback there is would be read for each piece otherwise.
    unrated as (
      delete from advisory_feedback
      where history_id = any (array(select id from piece)) and (history_id, user_id) in (select id, user_id from piece)
    ),
    -- They would count towards what an account may share.
    unshared as (
      delete from history_share where history_id = any (array(select id from piece))
    ),
    moved as (
      update history_removal as removal set user_id = last.user_id, id = last.id
      from (select user_id, id from piece order by user_id desc, id desc limit 1) as last
    )
    select count(*) as items from piece`.execute(trx)
  return rows[0]?.items ?? 0
}

interface Retention {
  /** Whether a month is out of the histories, and still to be dropped. */
  going: boolean
  old: boolean
}

export async function findRetention(db: Db, months: number | undefined): Promise<Retention> {
  const hasOld =
    months === undefined
      ? sql<boolean>`false`
      : sql<boolean>`exists (select from history_item where id < uuid_at(${oldestKept(months)}))`
  // In one statement: a month that goes between two would be in neither.
  const { rows } = await sql<Retention>`select ${MONTH_IS_GOING} as going, ${hasOld} as old`.execute(db)
  return rows[0] as Retention
}

async function lookAtAccounts(trx: Trx, months: number, from: string) {
  const { rows } = await sql<{ userId: string; hasOld: boolean }>`
    with oldest_kept as materialized (select ${oldestKept(months)} as begins)
    select
      user_id as "userId",
      exists (
        select from history_item as item
        where item.user_id = account.user_id and id < uuid_at(begins)
      ) as "hasOld"
    from oldest_kept
    cross join lateral (
      select user_id from history_size where user_id >= ${from} order by user_id limit ${ACCOUNTS}
    ) as account
    order by user_id`.execute(trx)
  return rows
}

async function deletePiece(trx: Trx, months: number, userId: string): Promise<void> {
  await sql`
    delete from history_item
    where user_id = ${userId} and id in (
      select id from history_item
      where user_id = ${userId} and id < uuid_at(${oldestKept(months)})
      order by id
      limit ${DELETED_PIECE}
    )`.execute(trx)
}
