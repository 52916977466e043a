import { sql } from 'kysely'
import type { FeedbackCounts } from '#schemas/stats.ts'
import { existingUser } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import type { Latencies } from '#src/http/metrics/requests.ts'
import type { RequestCount } from '#src/http/plugins/request-counts.ts'

/** ISO dates (UTC), both included. */
interface Days {
  from: string
  to: string
}

/** In one order, so that processes do not wait for each other. */
export async function addRequestCounts(db: Db, counts: RequestCount[]): Promise<void> {
  const column = <Key extends keyof RequestCount>(key: Key) => counts.map((count) => count[key])
  const latencies = counts.map((count) => `{${count.latencies}}`)
  await sql`
    insert into request_count as counted (day, operation, status, code, requests, total_ms, max_ms, buckets)
    select day, operation, status, code, requests, total_ms, max_ms, latencies::bigint[]
    from unnest(
      ${column('day')}::date[], ${column('operation')}::text[], ${column('status')}::integer[],
      ${column('code')}::text[], ${column('requests')}::bigint[], ${column('totalMs')}::float8[],
      ${column('maxMs')}::float8[], ${latencies}::text[]
    ) as arriving (day, operation, status, code, requests, total_ms, max_ms, latencies)
    order by day, operation, status, code
    on conflict (day, operation, status, code) do update set
      requests = counted.requests + excluded.requests,
      total_ms = counted.total_ms + excluded.total_ms,
      max_ms = greatest(counted.max_ms, excluded.max_ms),
      buckets = array(
        select old + new
        from unnest(counted.buckets, excluded.buckets) with ordinality as bucket (old, new, number)
        order by number
      )`.execute(db)
}

/** Advisories by one of these, or by day; the others are null. In all, where every one is null. */
export interface UsageRow {
  grouping: 'total' | 'product' | 'country' | 'crop' | 'day'
  product: string
  country_code: string
  crop_code: string | null
  day: string
  advisories: number
}

/** The sums have what was not yet removed of accounts that are gone. */
const OF_ALL = sql`
  select product, country_code, crop_code, day, advisories from usage_of_all
  union all
  select product, country_code, crop_code, day, -advisories from user_usage
  where user_id in (select user_id from account_removal)`

export async function countUsage(db: Db, { from, to }: Days, userId: string | null): Promise<UsageRow[]> {
  const usage =
    userId === null ? OF_ALL : sql`select * from user_usage where user_id = ${existingUser(userId)}`
  const { rows } = await sql<UsageRow>`
    with summed as materialized (
      select product, country_code, crop_code, day, sum(advisories) as advisories
      from (${usage}) as usage
      where day between ${from}::date and ${to}::date
      group by product, country_code, crop_code, day
      having sum(advisories) > 0
    )
    select
      case grouping(product, country_code, crop_code, day)
        when 7 then 'product' when 11 then 'country' when 13 then 'crop' when 14 then 'day' else 'total'
      end as grouping,
      product, country_code, crop_code, day, coalesce(sum(advisories), 0)::bigint as advisories
    from summed
    group by grouping sets ((), (product), (country_code), (crop_code), (day))
    order by product collate "C", country_code collate "C", crop_code collate "C", day`.execute(db)
  return rows
}

/** Feedback that was first given in these days. */
export async function countFeedback(
  db: Db,
  { from, to }: Days,
  userId: string | null,
): Promise<FeedbackCounts> {
  const ofUser = userId === null ? sql`` : sql`and user_id = ${userId}`
  const { rows } = await sql<FeedbackCounts>`
    select count(*) as count, round(avg(rating), 2)::float8 as average
    from advisory_feedback
    where created_at >= ${from}::date::timestamp at time zone 'UTC'
      and created_at < (${to}::date + 1)::timestamp at time zone 'UTC' ${ofUser}
      -- Rows of accounts that are gone are left until they are removed.
      and not exists (select from account_removal where account_removal.user_id = advisory_feedback.user_id)`.execute(
    db,
  )
  return rows[0] as FeedbackCounts
}

export async function countUsers(
  db: Db,
  { from, to }: Days,
): Promise<{ registered: number; active: number }> {
  const { rows } = await sql<{ registered: number; active: number }>`
    select
      (select count(*) from app_user) as registered,
      (
        select count(*) from app_user
        where exists (
          select from user_usage
          where user_id = app_user.id and day between ${from}::date and ${to}::date
          -- One row is looked for, and not all of everybody.
          offset 0
        )
      ) as active`.execute(db)
  return rows[0] as { registered: number; active: number }
}

/** Requests of an operation or of a day; of both together where both are null. */
export interface TrafficRow {
  operation: string | null
  day: string | null
  requests: number
  errors: number
  longest: number
  latencies: Latencies
}

/** Requests in all, by operation and by day, in these orders. */
export async function countRequests(db: Db, { from, to }: Days): Promise<TrafficRow[]> {
  const { rows } = await sql<TrafficRow>`
    with grouped as (
      select
        operation, day, bucket.number,
        sum(bucket.requests)::bigint as requests,
        coalesce(sum(bucket.requests) filter (where status >= 400), 0)::bigint as errors,
        max(max_ms) as longest
      from request_count, unnest(buckets) with ordinality as bucket (requests, number)
      where day between ${from}::date and ${to}::date
      group by grouping sets ((bucket.number), (operation, bucket.number), (day, bucket.number))
    )
    select
      operation, day, sum(requests)::bigint as requests, sum(errors)::bigint as errors,
      max(longest) as longest, array_agg(requests::float8 order by number) as latencies
    from grouped
    group by operation, day
    order by operation collate "C", day`.execute(db)
  return rows
}

export async function countErrors(
  db: Db,
  { from, to }: Days,
): Promise<{ status: number; code: string; requests: number }[]> {
  const { rows } = await sql<{ status: number; code: string; requests: number }>`
    select status, code, sum(requests)::bigint as requests
    from request_count
    where day between ${from}::date and ${to}::date and status >= 400
    group by status, code
    order by requests desc, status, code collate "C"`.execute(db)
  return rows
}
