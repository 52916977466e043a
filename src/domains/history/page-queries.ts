import { type Kysely, type RawBuilder, sql } from 'kysely'
import { livingUser } from '#src/database/living.ts'
import type { Tables } from '#src/database/tables.ts'
import { uuidAt } from '#src/lib/uuid.ts'
import { HISTORY_COLUMNS, type HistoryFilter, type HistoryRow } from './queries.ts'

/**
 * A page of a user's history, newest first. What it takes depends on the page and not on what comes before it: it
 * begins in an index, in the partition of its month. What older versions have kept lies in a table of its own.
 */
export async function listHistory(db: Kysely<Tables>, filter: HistoryFilter): Promise<HistoryRow[]> {
  const { userId, limit, bytes } = filter
  const { rows } = await sql<HistoryRow>`
    with matching as materialized (
      (${itemsOf(filter)})
      union all
      (${olderItemsOf(filter)})
      order by created_at desc, id desc
      limit ${limit + 1}
    ),
    numbered as (
      select
        id,
        row_number() over newest_first as place,
        sum(bytes) over newest_first - bytes as bytes_before,
        lead(id) over newest_first is not null as more
      from matching
      window newest_first as (order by created_at desc, id desc)
    )
    select ${HISTORY_COLUMNS}, more
    from numbered
    -- An offset, so that each is looked up in the indexes: joined to all items, they would be read for it.
    cross join lateral (
      select * from advisory_history as one where one.id = numbered.id and one.user_id = ${userId} offset 0
    ) as item
    left join advisory_feedback as feedback on feedback.history_id = item.id
    where place <= ${limit} and bytes_before < ${bytes}
    order by place`.execute(db)
  return rows
}

function itemsOf(filter: HistoryFilter): RawBuilder<unknown> {
  const { userId, limit } = filter
  const subject = subjectIs(filter)
  const subjects =
    subject.length === 0 ? sql`null` : sql`array(select id from history_subject where ${all(subject)})`
  const { since, before } = idsOf(filter)
  return sql`
    select id, uuid_time(id) as created_at, bytes
    from newest_history_items(${livingUser(userId)}, ${subjects}, ${since}, ${before}, ${limit + 1})`
}

function olderItemsOf(filter: HistoryFilter): RawBuilder<unknown> {
  const { userId, from, to, after, limit } = filter
  const conditions = [
    sql`user_id = ${livingUser(userId)}`,
    ...subjectIs(filter),
    ...(from === null ? [] : [sql`created_at >= ${from}::timestamptz`]),
    ...(to === null ? [] : [sql`created_at < ${to}::timestamptz`]),
    ...(after === null
      ? []
      : [
          sql`(created_at, id) < (
            timestamptz 'epoch' + ${after.createdAt}::float8 * interval '1 microsecond', ${after.id}::uuid
          )`,
        ]),
  ]
  return sql`
    select id, created_at, bytes from advisory_history_json
    where ${all(conditions)}
    order by created_at desc, id desc
    limit ${limit + 1}`
}

function subjectIs({ product, kind, countryCode }: HistoryFilter): RawBuilder<unknown>[] {
  return [
    ...(product === null ? [] : [sql`product = ${product}`]),
    ...(kind === null ? [] : [sql`kind = ${kind}`]),
    ...(countryCode === null ? [] : [sql`country_code = ${countryCode}`]),
  ]
}

/** No item is before the first of these, or has the last one. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Times of items as bounds of their ids. */
function idsOf({ from, to, after }: HistoryFilter): { since: string; before: string } {
  const before = [
    ...(to === null ? [] : [uuidAt(Date.parse(to))]),
    ...(after === null ? [] : [idBefore(after)]),
  ]
  return {
    since: from === null ? FIRST_ID : uuidAt(Date.parse(from)),
    before: before.toSorted()[0] ?? LAST_ID,
  }
}

/** Where what is older than an item ends, whose id may say nothing of its time. */
function idBefore({ createdAt, id }: NonNullable<HistoryFilter['after']>): string {
  const [begin, end] = [uuidAt(Math.floor(createdAt / 1000)), uuidAt(Math.floor(createdAt / 1000) + 1)]
  if (createdAt % 1000 > 0 || id > end) return end
  return id < begin ? begin : id
}

function all(conditions: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql.join(conditions, sql` and `)
}
