import { sql } from 'kysely'
import { inTransaction } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import { doAlone } from '#src/data/work-lock.ts'
import type { WatchedValue } from '../changes/schemas.ts'
import type { Watch } from './queries.ts'
import type { DisabledReason } from './schemas.ts'

/** Every process that delivers uses this constant. */
const CLAIM_LOCK = 7_239_464

/** An attempt ends sooner, or its process has ended, and another may try. */
const LEASE_SECONDS = 60

/** Simultaneous attempts at one host, by all processes: a slow host holds up itself. */
const RUNNING_PER_HOST = 2

/** The same for one account, whose hosts may be many. */
const RUNNING_PER_USER = 4

/** Finished deliveries stay for so long. */
const RETENTION_DAYS = 14

export interface Delivery {
  id: string
  subscriptionId: string
  userId: string
  url: string
  body: string
  /** Sealed, as is the previous one while it still signs. */
  secret: Buffer
  previousSecret: Buffer | null
  /** With the current one. */
  attempts: number
  /** Seconds since the subscriber's first failure in a row; 0 after a success. */
  failing: number
}

/**
 * Claims the oldest due delivery of each subscription. Undefined while another process claims some.
 *
 * @param shared how many of them may be of accounts that have one under way; the other places are for those without
 */
export async function claimDeliveries(db: Db, most: number, shared: number): Promise<Delivery[] | undefined> {
  return doAlone(db, CLAIM_LOCK, async (trx) => {
    const { rows } = await sql<Delivery>`
      with pending as materialized (
        select distinct on (subscription_id)
          webhook_delivery.id, subscription_id, due_at, user_id, host,
          coalesce(webhook_delivery.leased_until > now(), false) as running
        from webhook_delivery
        join subscription on subscription.id = subscription_id
        where done_at is null and disabled_at is null
        order by subscription_id, webhook_delivery.created_at, webhook_delivery.id
      ),
      counted as (
        select
          *,
          count(*) filter (where running) over (partition by user_id) as running_of_user,
          count(*) filter (where running) over (partition by host) as running_at_host
        from pending
      ),
      -- New accounts queue up behind those that have waited since before.
      turns as (
        select user_id, max(coalesce(tried_at, created_at)) as last_turn
        from subscription
        where user_id in (select user_id from pending)
        group by user_id
      ),
      due as (
        select
          id, due_at, host, running_at_host, last_turn,
          running_of_user + row_number() over (partition by user_id order by due_at, id) as of_user
        from counted
        join turns using (user_id)
        where not running and due_at <= now()
      ),
      -- Accounts alternate, also at a host that many of them share: no account waits for all of another one.
      allowed as (
        select
          id, due_at, last_turn, of_user,
          running_at_host + row_number() over (partition by host order by of_user, last_turn, due_at, id) as at_host
        from due
        where of_user <= ${RUNNING_PER_USER}::integer
      ),
      ordered as (
        select id, of_user, row_number() over (order by of_user, last_turn, due_at, id) as ordinal
        from allowed
        where at_host <= ${RUNNING_PER_HOST}::integer
      ),
      chosen as (
        select id
        from ordered
        join webhook_delivery using (id)
        where ordinal <= ${most}::integer and (of_user = 1 or ordinal <= ${shared}::integer) and done_at is null
        -- One that another has locked holds up none.
        for no key update of webhook_delivery skip locked
      )
      update webhook_delivery
      set leased_until = now() + make_interval(secs => ${LEASE_SECONDS}::integer), attempts = attempts + 1
      from subscription
      where subscription.id = subscription_id and webhook_delivery.id in (select id from chosen)
      returning
        webhook_delivery.id,
        subscription_id as "subscriptionId",
        user_id as "userId",
        url,
        body,
        secret,
        case when previous_until > now() then previous_secret end as "previousSecret",
        attempts,
        coalesce(extract(epoch from now() - failing_since), 0)::float8 as failing`.execute(trx)
    return rows
  })
}

/** Milliseconds until the next delivery is due, by the clock of the database; undefined without any. */
export async function findTimeToNext(db: Db): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number | null }>`
    select extract(epoch from
      min(greatest(due_at, coalesce(webhook_delivery.leased_until, due_at))) - clock_timestamp()
    )::float8 * 1000 as ms
    from webhook_delivery
    join subscription on subscription.id = subscription_id
    where done_at is null and disabled_at is null`.execute(db)
  return rows[0]?.ms ?? undefined
}

/** The last turn after an attempt: a second is a whole one, and half a second a quarter. Without a lease it is whole. */
const LAST_TURN = sql<Date>`
  coalesce(tried_at, created_at) + (clock_timestamp() - coalesce(tried_at, created_at)) * (
    select power(least(1, extract(epoch from clock_timestamp() - max(leased_until)) + ${LEASE_SECONDS}::integer), 2)
    from webhook_delivery
    where subscription_id = subscription.id and done_at is null
  )::float8`

export async function recordDelivered(
  db: Db,
  { id, subscriptionId }: Pick<Delivery, 'id' | 'subscriptionId'>,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await trx
      .updateTable('subscription')
      .set({ delivered_at: sql<Date>`clock_timestamp()`, failing_since: null, tried_at: LAST_TURN })
      .where('id', '=', subscriptionId)
      .execute()
    await trx
      .updateTable('webhook_delivery')
      .set({ done_at: sql<Date>`clock_timestamp()`, delivered: true, leased_until: null })
      .where('id', '=', id)
      .where('done_at', 'is', null)
      .execute()
  })
}

export async function recordFailed(
  db: Db,
  { id, subscriptionId, attempts }: Delivery,
  seconds: number,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`
      update subscription set failing_since = coalesce(failing_since, clock_timestamp()), tried_at = ${LAST_TURN}
      where id = ${subscriptionId}`.execute(trx)
    await sql`
      update webhook_delivery
      set due_at = clock_timestamp() + make_interval(secs => ${seconds}::float8), leased_until = null
      where id = ${id} and attempts = ${attempts} and done_at is null`.execute(trx)
  })
}

export async function releaseClaim(db: Db, { id, attempts }: Delivery): Promise<void> {
  await sql`
    update webhook_delivery set leased_until = null, attempts = attempts - 1
    where id = ${id} and attempts = ${attempts} and done_at is null`.execute(db)
}

/** Gives up the deliveries of a subscription, until it is enabled again. */
export async function disableSubscription(db: Db, id: string, reason: DisabledReason): Promise<void> {
  await inTransaction(db, async (trx) => {
    await sql`
      update subscription
      set disabled_at = clock_timestamp(), disabled_reason = ${reason},
        failing_since = coalesce(failing_since, clock_timestamp()), tried_at = ${LAST_TURN}
      where id = ${id} and disabled_at is null`.execute(trx)
    await sql`
      update webhook_delivery set done_at = clock_timestamp(), delivered = false, leased_until = null
      where subscription_id = ${id} and done_at is null`.execute(trx)
  })
}

/** Deletes old deliveries, but for the last one of each subscription. */
export async function deleteOldDeliveries(db: Db): Promise<void> {
  await sql`
    delete from webhook_delivery as old
    where done_at < now() - make_interval(days => ${RETENTION_DAYS}::integer)
      and exists (
        select from webhook_delivery as newer
        where newer.subscription_id = old.subscription_id and newer.created_at > old.created_at
      )`.execute(db)
}

/** Longer than the slowest batch: then its process has ended, and another compares its subscriptions. */
const LEASE_MINUTES = 5

/** A subscription that another release answers now. */
export interface ChangedSubscription extends Watch {
  id: string
  notified: WatchedValue[]
  /** The release of the last comparison; null where none answered. */
  before: string | null
  after: string | null
}

/**
 * Claims subscriptions to compare. The database says which release answers, so no change is missed.
 *
 * @param ofFields whether to claim those of collections of fields, or the others
 */
export async function claimChanged(db: Db, most: number, ofFields: boolean): Promise<ChangedSubscription[]> {
  const { rows } = await sql<ChangedSubscription>`
    with answering as materialized (
      select
        product, country_code, crop_code, forecast_period,
        (
          select code from release
          -- Without its name, these would be the columns of the release.
          where id = published_release(
            series.product, series.country_code, series.crop_code, series.forecast_period
          )
        ) as release
      from (
        select distinct product, country_code, crop_code, forecast_period
        from subscription
        where disabled_at is null
      ) as series
    ),
    changed as (
      select subscription.id, answering.release
      from answering
      join subscription on subscription.product = answering.product
        and subscription.country_code = answering.country_code
        and subscription.crop_code is not distinct from answering.crop_code
        and subscription.forecast_period is not distinct from answering.forecast_period
      where subscription.disabled_at is null
        and subscription.release is distinct from answering.release
        and (leased_until is null or leased_until < now())
        and (place ->> 'type' = 'fields') = ${ofFields}::boolean
      order by
        leased_until nulls first,
        -- No account waits for all of another one, be it within a claim or from claim to claim.
        row_number() over (partition by user_id order by subscription.id),
        random()
      limit ${most}::integer
    ),
    -- In one order, so that no two claims wait for each other.
    claimed as (
      select id, changed.release
      from changed
      join subscription using (id)
      where leased_until is null or leased_until < now()
      order by id
      for no key update of subscription
    )
    update subscription
    set leased_until = now() + make_interval(mins => ${LEASE_MINUTES}::integer)
    from claimed
    where subscription.id = claimed.id
    returning
      subscription.id,
      user_id as "userId",
      name,
      json_build_object(
        'product', product, 'countryCode', country_code, 'cropCode', crop_code, 'forecastPeriod', forecast_period
      ) as series,
      place,
      input,
      scenario,
      json_build_object('kind', threshold_kind, 'value', threshold) as threshold,
      told as notified,
      subscription.release as before,
      claimed.release as after`.execute(db)
  return rows
}

/** The claim of a long comparison lasts, and other processes leave it alone. False where its subscription is gone. */
export async function renewClaim(db: Db, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('subscription')
    .set({ leased_until: sql<Date>`now() + make_interval(mins => ${LEASE_MINUTES}::integer)` })
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function postpone(db: Db, id: string, seconds: number): Promise<void> {
  await sql`
    update subscription set leased_until = now() + make_interval(secs => ${seconds}::float8)
    where id = ${id}`.execute(db)
}

/** Once, whatever the number of processes. @param message null without a change */
export async function recordComparison(
  db: Db,
  { id, before, after }: Pick<ChangedSubscription, 'id' | 'before' | 'after'>,
  message: { id: string; body: string; notified: readonly WatchedValue[] } | null,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('subscription')
      .set({
        release: after,
        leased_until: null,
        ...(message && { told: sql`${JSON.stringify(message.notified)}::jsonb` }),
      })
      .where('id', '=', id)
      .where('release', 'is not distinct from', before)
      .where('disabled_at', 'is', null)
      .executeTakeFirst()
    if (numUpdatedRows === 0n || !message) return
    const { id: deliveryId, body } = message
    await trx.insertInto('webhook_delivery').values({ id: deliveryId, subscription_id: id, body }).execute()
  })
}
