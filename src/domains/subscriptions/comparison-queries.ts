import { type Kysely, sql } from 'kysely'
import type { WatchedValue } from '#schemas/subscriptions.ts'
import type { Tables } from '#src/database/tables.ts'
import { inTransaction } from '#src/database/transaction.ts'
import type { Series } from '#src/products/series.ts'
import type { Place } from './queries.ts'

/** A process that ends has its subscriptions compared by another after so long: longer than a batch of the slowest takes. */
const LEASE_MINUTES = 5

/** A subscription that another release answers than the one it was last compared with. */
export interface Changed {
  id: string
  name: string
  series: Series
  place: Place
  input: string | null
  scenario: string | null
  thresholdKind: 'absolute' | 'relative'
  threshold: number
  told: WatchedValue[]
  /** The code of the release that it was last compared with; null where none answered. */
  before: string | null
  /** The code of the one that answers; null where none does. */
  after: string | null
}

interface ChangedRow extends Omit<Changed, 'series'>, Series {}

/**
 * Takes some of the subscriptions that are to be compared anew. What answers is asked of the database itself: however a
 * release came to answer, and whichever process was away meanwhile, nothing is missed. Those that were not tried yet come
 * first, then those that have waited longest since they could not be compared.
 */
export async function claimChanged(db: Kysely<Tables>, most: number): Promise<Changed[]> {
  const { rows } = await sql<ChangedRow>`
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
      order by
        leased_until nulls first,
        -- Accounts take turns: nobody waits for all that another one has.
        row_number() over (partition by user_id order by subscription.id)
      limit ${most}::integer
    )
    update subscription
    set leased_until = now() + make_interval(mins => ${LEASE_MINUTES}::integer)
    from changed
    where subscription.id = changed.id and (leased_until is null or leased_until < now())
    returning
      subscription.id,
      name,
      product,
      country_code as "countryCode",
      crop_code as "cropCode",
      forecast_period as "forecastPeriod",
      place,
      input,
      scenario,
      threshold_kind as "thresholdKind",
      threshold,
      told,
      subscription.release as before,
      changed.release as after`.execute(db)
  return rows.map(({ product, countryCode, cropCode, forecastPeriod, ...row }) => ({
    ...row,
    series: { product, countryCode, cropCode, forecastPeriod },
  }))
}

/** Has a subscription compared a little later. */
export async function postpone(db: Kysely<Tables>, id: string, seconds: number): Promise<void> {
  await sql`
    update subscription set leased_until = now() + make_interval(secs => ${seconds}::float8) where id = ${id}`.execute(
    db,
  )
}

/**
 * Notes that a subscription was compared and, where that is to be told, what is sent: both or neither, and once, however
 * many processes have compared it.
 *
 * @param message undefined where nothing is to be told
 */
export async function keepComparison(
  db: Kysely<Tables>,
  { id, before, after }: Pick<Changed, 'id' | 'before' | 'after'>,
  message: { id: string; body: string; told: readonly WatchedValue[] } | undefined,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('subscription')
      .set({
        release: after,
        leased_until: null,
        ...(message && { told: sql`${JSON.stringify(message.told)}::jsonb` }),
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
