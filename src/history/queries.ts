import { type RawBuilder, sql } from 'kysely'
import type { Feedback, FeedbackRequest } from '#schemas/feedback.ts'
import { FOREIGN_KEY_VIOLATION } from '#src/data/failures.ts'
import { existingUser, isoTime } from '#src/data/sql.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import { requireFound } from '#src/errors.ts'
import { readErrorCode } from '#src/lib/promises.ts'
import { isUuid, uuidAt } from '#src/lib/uuid.ts'
import type { AdvisoryRecord } from './keep-answer.ts'

/** Of `feedback`, a row of advisory_feedback. */
const feedbackJson = sql<Feedback>`json_build_object(
  'rating', feedback.rating,
  'comment', feedback.comment,
  'observed', nullif(
    coalesce(feedback.observed, '{}')
      || jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
    '{}'
  ),
  'created_at', ${isoTime('feedback.created_at')},
  'updated_at', ${isoTime('feedback.updated_at')}
)`

/** @throws {ApiError} NOT_FOUND also for an item of another account */
export function requireItem<Found>(found: Found | undefined | false): Found {
  return requireFound(found, 'There is nothing with this id in your history.')
}

/** Stores feedback of the observable keys in the place of earlier feedback; undefined without such an item. */
export async function putFeedback(
  db: Db,
  userId: string,
  historyId: string,
  { rating, comment, observed }: FeedbackRequest,
  observable: string[],
): Promise<Feedback | undefined> {
  if (!isUuid(historyId)) return undefined
  const values = Object.fromEntries(observable.map((key) => [key, observed?.[key] ?? undefined]))
  const { rows } = await sql<{ feedback: Feedback }>`
    insert into advisory_feedback as feedback (
      history_id, user_id, rating, comment, observed, harvested_on
    )
    select
      id, ${userId}::uuid, ${rating}::integer, ${comment ?? null}::text, ${JSON.stringify(values)}::jsonb,
      ${observed?.harvested_on ?? null}::date
    from advisory_history
    where id = ${itemId(historyId)} and user_id = ${existingUser(userId)}
    on conflict (history_id) do update set
      rating = excluded.rating,
      comment = excluded.comment,
      observed = excluded.observed,
      harvested_on = excluded.harvested_on,
      updated_at = now()
    returning ${feedbackJson} as feedback`
    .execute(db)
    .catch(noneWhereDeleted)
  return rows[0]?.feedback
}

/** An item may be deleted while the statement waits for it. */
function noneWhereDeleted(error: unknown): { rows: never[] } {
  if (readErrorCode(error) === FOREIGN_KEY_VIOLATION) return { rows: [] }
  throw error
}

export interface HistoryFilter {
  userId: string
  product: string | null
  kind: AdvisoryRecord['kind'] | null
  countryCode: string | null
  /** ISO time, inclusive. */
  from: string | null
  /** ISO time, exclusive. */
  to: string | null
  after: string | null
  limit: number
  /** Bound of the requests and answers of a page. */
  bytes: number
}

export interface HistoryRow {
  id: string
  created_at: string
  kind: AdvisoryRecord['kind']
  product: string
  country_code: string
  crop_code: string | null
  releases: string[]
  /** By code, of releases that the database knows. */
  synthetic_by_release: Record<string, boolean>
  request: object
  answer: object
  feedback: Feedback | null
  more: boolean
}

/** The id of an item, which version 1.0.0 may have given another one. */
export const itemId = (id: string) => sql<string>`history_item_id(${id})`

/** Of `item`, a row of the view with all items. A join might read all ratings for each item. */
const HISTORY_COLUMNS = sql`
  item.id,
  ${isoTime('item.created_at')} as created_at,
  item.kind, item.product, item.country_code, item.crop_code, item.releases,
  (
    select coalesce(json_object_agg(release.code, release.synthetic), '{}')
    from release
    where release.code = any(item.releases)
  ) as synthetic_by_release,
  item.request, item.answer,
  (select ${feedbackJson} from advisory_feedback as feedback where history_id = item.id) as feedback`

/** Undefined also for an id that is no UUID. */
export async function findHistoryItem(db: Db, userId: string, id: string): Promise<HistoryRow | undefined> {
  if (!isUuid(id)) return undefined
  const { rows } = await sql<HistoryRow>`
    select ${HISTORY_COLUMNS}, false as more
    from advisory_history as item
    where item.id = ${itemId(id)} and item.user_id = ${existingUser(userId)}
    limit 1`.execute(db)
  return rows[0]
}

/** Deletes the item with its feedback. */
export async function deleteHistoryItem(db: Db, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numDeletedRows } = await db
    .deleteFrom('history_item')
    .where('user_id', '=', existingUser(userId))
    .where('id', '=', itemId(id))
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export interface RemovedHistory {
  history: number
  feedback: number
  /** Rows of counts by day. */
  usage: number
}

export async function countHistory(trx: Trx, userId: string): Promise<RemovedHistory> {
  const counts = await trx
    .selectNoFrom(({ selectFrom, fn }) => [
      selectFrom('history_size').select('items').where('user_id', '=', userId).as('history'),
      selectFrom('advisory_feedback')
        .select(fn.countAll<number>().as('n'))
        .where('user_id', '=', userId)
        .as('feedback'),
      selectFrom('user_usage')
        .select(fn.countAll<number>().as('n'))
        .where('user_id', '=', userId)
        .as('usage'),
    ])
    .executeTakeFirstOrThrow()
  return { history: counts.history ?? 0, feedback: counts.feedback ?? 0, usage: counts.usage ?? 0 }
}

/** Deletes up to a limit of the oldest items after one, with their feedback; gives the last of them. */
export async function deleteItems(
  trx: Trx,
  userId: string,
  after: string,
  limit: number,
): Promise<string | null> {
  const { rows } = await sql<{ last: string | null }>`
    select delete_history_items(${userId}, ${after}, ${limit}) as last`.execute(trx)
  return rows[0]?.last ?? null
}

export async function deleteUsage(trx: Trx, userId: string, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from user_usage
    where ctid = any (array(select ctid from user_usage where user_id = ${userId} limit ${limit}))`.execute(
    trx,
  )
  return Number(numAffectedRows)
}

/** A process may be stopped for weeks. */
const MONTHS_AHEAD = 3

export async function createMonthsAhead(db: Db): Promise<void> {
  await sql`select create_history_months(now() + make_interval(months => ${MONTHS_AHEAD}))`.execute(db)
}

export async function createMonths(db: Db, id: string): Promise<void> {
  await sql`select create_history_months(uuid_time(${id}))`.execute(db)
}

/** A page, newest first. Its time does not depend on earlier pages: it begins in an index. */
export async function listHistory(db: Db, filter: HistoryFilter): Promise<HistoryRow[]> {
  const { userId, from, to, after, limit, bytes } = filter
  const subject = subjectIs(filter)
  const subjects =
    subject.length === 0
      ? sql`null`
      : sql`array(select id from history_subject where ${sql.join(subject, sql` and `)})`
  const since = from === null ? FIRST_ID : uuidAt(Date.parse(from))
  const before = [after ?? LAST_ID, to === null ? LAST_ID : uuidAt(Date.parse(to))].toSorted()[0]
  const { rows } = await sql<HistoryRow>`
    with numbered as materialized (
      select
        id,
        row_number() over newest_first as place,
        sum(bytes) over newest_first - bytes as bytes_before,
        lead(id) over newest_first is not null as more
      from newest_history_items(${existingUser(userId)}, ${subjects}, ${since}, ${before}, ${limit + 1})
      window newest_first as (order by id desc)
    )
    select ${HISTORY_COLUMNS}, more
    from numbered
    -- A limit, so that each is looked up in the indexes: without it, tables beside the items may be read as a whole.
    cross join lateral (
      select * from advisory_history as one where one.id = numbered.id and one.user_id = ${userId} limit 1
    ) as item
    where place <= ${limit} and bytes_before < ${bytes}
    order by place`.execute(db)
  return rows
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
