import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'

/** How it is with all subscriptions. */
export interface DeliveryState {
  active: number
  disabled: number
  /** Of the active ones. */
  failing: number
  /** Since when the first of what is due has been; null where nothing is. */
  overdueSeconds: number | null
}

export async function findDeliveryState(db: Kysely<Tables>): Promise<DeliveryState> {
  const { rows } = await sql<DeliveryState>`
    select
      count(*) filter (where disabled_at is null)::float8 as active,
      count(*) filter (where disabled_at is not null)::float8 as disabled,
      count(*) filter (where disabled_at is null and failing_since is not null)::float8 as failing,
      (
        select extract(epoch from clock_timestamp() - min(due_at))::float8
        from webhook_delivery
        join subscription on subscription.id = subscription_id
        where done_at is null and disabled_at is null
          and coalesce(webhook_delivery.leased_until, due_at) < now() and due_at < now()
      ) as "overdueSeconds"
    from subscription`.execute(db)
  return rows[0] as DeliveryState
}
