import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Series } from '#schemas/products/define.ts'
import { isoTime } from '#src/data/sql.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import type { SealedRows } from '#src/http/account-seal.ts'
import type { Threshold, WatchedValue } from '../changes/schemas.ts'
import type { SubscriptionAnswer } from './schemas.ts'

export interface WatchedCollection {
  type: 'fields'
  collection: string
}

/** A place with values of its own. */
export type PlaceWithValues =
  | { type: 'point'; lat: number; lng: number }
  | { type: 'polygon'; geometry: Record<string, unknown> }
  | { type: 'area'; code: string; level: number | null }

export type WatchedPlace = PlaceWithValues | WatchedCollection

/** After a renewal both secrets sign for so long. */
const PREVIOUS_SECRET_HOURS = 24

export interface Watch {
  userId: string
  name: string
  series: Series
  place: WatchedPlace
  input: string | null
  scenario: string | null
  threshold: Threshold
}

export interface NewSubscription extends Watch {
  url: string
  /** Sealed. */
  secret: Buffer
  release: string | null
  /** The current values, from which changes are measured. */
  notified: readonly WatchedValue[]
}

export type SubscriptionRow = Omit<SubscriptionAnswer, 'unit'>

const COLUMNS = [
  'id',
  'name',
  'product',
  'country_code',
  'crop_code as crop',
  sql<string | null>`to_char(forecast_period, 'YYYY-MM')`.as('forecast_month'),
  sql<SubscriptionRow['place']>`place`.as('place'),
  'input',
  'scenario',
  sql<SubscriptionRow['threshold']>`json_build_object('kind', threshold_kind, 'value', threshold)`.as(
    'threshold',
  ),
  'url',
  sql<'active' | 'disabled'>`case when disabled_at is null then 'active' else 'disabled' end`.as('status'),
  'disabled_reason',
  isoTime<string | null>('failing_since').as('failing_since'),
  isoTime<string | null>('delivered_at').as('delivered_at'),
  isoTime('created_at').as('created_at'),
  'release',
  sql<WatchedValue[]>`told`.as('values'),
] as const

export async function insertSubscription(trx: Trx, subscription: NewSubscription): Promise<SubscriptionRow> {
  const { userId, series, place, threshold, notified } = subscription
  return trx
    .insertInto('subscription')
    .values({
      user_id: userId,
      name: subscription.name,
      product: series.product,
      country_code: series.countryCode,
      crop_code: series.cropCode,
      forecast_period: series.forecastPeriod,
      place: sql`${JSON.stringify(place)}::jsonb`,
      input: subscription.input,
      scenario: subscription.scenario,
      threshold_kind: threshold.kind,
      threshold: threshold.value,
      url: subscription.url,
      host: new URL(subscription.url).host,
      secret: subscription.secret,
      release: subscription.release,
      told: sql`${JSON.stringify(notified)}::jsonb`,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

export async function listSubscriptions(db: Db, userId: string): Promise<SubscriptionRow[]> {
  return db
    .selectFrom('subscription')
    .select(COLUMNS)
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

const selectOne = (db: Db, userId: string, id: string) =>
  db.selectFrom('subscription').select(COLUMNS).where('user_id', '=', userId).where('id', '=', id)

export async function findSubscription(
  db: Db,
  userId: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  return selectOne(db, userId, id).executeTakeFirst()
}

/** The same with the secrets. */
export async function findTarget(
  db: Db,
  userId: string,
  id: string,
): Promise<(SubscriptionRow & { secret: Buffer; previousSecret: Buffer | null }) | undefined> {
  const previous = sql<Buffer | null>`case when previous_until > now() then previous_secret end`
  return selectOne(db, userId, id)
    .select(['secret', previous.as('previousSecret')])
    .executeTakeFirst()
}

export async function deleteSubscription(db: Db, userId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('subscription')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** First sends the last event that was given up, under its old id. */
export async function enableSubscription(
  trx: Trx,
  userId: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  const row = await trx
    .updateTable('subscription')
    .set({ disabled_at: null, disabled_reason: null, failing_since: null })
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) return undefined
  await sql`
    update webhook_delivery
    set done_at = null, delivered = null, due_at = now(), created_at = now(), attempts = 0
    where not delivered and id = (
      select id from webhook_delivery where subscription_id = ${id} order by created_at desc, id limit 1
    )`.execute(trx)
  return row
}

/** Replaces the secret, which signs for a day more. False where there is no such subscription. */
export async function renewSecret(db: Db, userId: string, id: string, secret: Buffer): Promise<boolean> {
  const { rows } = await sql`
    update subscription
    set
      previous_secret = secret,
      previous_until = now() + make_interval(hours => ${PREVIOUS_SECRET_HOURS}::integer),
      secret = ${secret}
    where user_id = ${userId} and id = ${id}
    returning 1`.execute(db)
  return rows.length > 0
}

export function createSecretRows(db: Db): SealedRows {
  return {
    async list(after, most) {
      const found = await db
        .selectFrom('subscription')
        .select(['id', 'user_id as userId', 'secret', 'previous_secret as previousSecret'])
        .$if(after !== undefined, (query) => query.where('id', '>', after as string))
        .orderBy('id')
        .limit(most)
        .execute()
      return found.map(({ id, userId, secret, previousSecret }) => ({
        id,
        userId,
        sealed: previousSecret === null ? [secret] : [secret, previousSecret],
      }))
    },
    // A renewal may have made it the previous one.
    async replace(id, sealed, replacement) {
      await sql`
        update subscription
        set
          secret = case when secret = ${sealed}::bytea then ${replacement}::bytea else secret end,
          previous_secret = case
            when previous_secret = ${sealed}::bytea then ${replacement}::bytea
            else previous_secret
          end
        where id = ${id} and ${sealed}::bytea in (secret, previous_secret)`.execute(db)
    },
  }
}

interface DeliveryState {
  active: number
  disabled: number
  /** Of the active ones. */
  failing: number
  /** Of the first due delivery; null without any. */
  overdueSeconds: number | null
}

export async function findDeliveryState(db: Db): Promise<DeliveryState> {
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

/** Secrets of Standard Webhooks: this and base64. */
const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}
