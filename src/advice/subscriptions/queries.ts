import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import type { DisabledReason, ThresholdKind, WatchedValue } from '#schemas/subscriptions.ts'
import { holdAccount } from '#src/accounts/user-queries.ts'
import { isoTime } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import type { AccountSeal, SealedRows } from '#src/http/account-seal.ts'
import { isUuid } from '#src/lib/uuid.ts'

/** A place that is watched, as it was asked for. */
export type Place =
  | { type: 'point'; lat: number; lng: number }
  | { type: 'polygon'; geometry: object }
  | { type: 'area'; code: string; level: number | null }

/** What is asked of a place. */
export interface PlaceQuestion {
  /** Its month is null for the newest. */
  series: Series
  place: Place
}

/** What a release says of a place: values at a point, means elsewhere. */
export interface PlaceReading {
  /** The code of the release. */
  release: string
  /** Layers without a value are left out. */
  values: WatchedValue[]
}

/** What a request says of what is asked. */
interface SeriesRequest {
  crop?: string
  country_code?: string
  forecast_period?: string
}

/** Reads what is published of places. */
export interface PlaceReader {
  /** What a request asks for: names without regard to case, defaults filled in, the crop by its code. */
  seriesOf(product: ProductDefinition, request: SeriesRequest): Promise<Series>
  /**
   * A polygon as it is kept: its type and positions alone.
   *
   * @throws {ApiError} INVALID_GEOMETRY
   */
  outlineOf(geometry: unknown): object
  /**
   * For a request.
   *
   * @throws {ApiError} which says why there is no value
   */
  forRequest(question: PlaceQuestion, request: FastifyRequest, reply: FastifyReply): Promise<PlaceReading>
  /**
   * For nobody who waits, from one release.
   *
   * @param release the code of the one that answers, as the database says
   * @param signal ends it
   * @returns no values where it has none there; undefined where this process does not know yet that it answers
   */
  inBackground(
    question: PlaceQuestion,
    release: string,
    signal: AbortSignal,
  ): Promise<WatchedValue[] | undefined>
}

/**
 * Lets a test delivery begin.
 *
 * @throws {ApiError} TOO_MANY_REQUESTS where the account, or all of them at this host, have had too many lately
 */
export type AdmitTest = (userId: string, host: string) => Promise<void>

/** For so long what a renewed secret was before signs as well. */
const PREVIOUS_SECRET_HOURS = 24

/** What is asked of a subscription, and what is told at its place now. */
export interface Wanted {
  userId: string
  name: string
  series: Series
  place: Place
  input: string | null
  scenario: string | null
  threshold: { kind: ThresholdKind; value: number }
  url: string
  /** Sealed. */
  secret: Buffer
  /** The code of the release that answers; null where none does. */
  release: string | null
  told: readonly WatchedValue[]
}

/** A subscription as its owner sees it. */
export interface SubscriptionRow {
  id: string
  name: string
  product: string
  country_code: string
  crop: string | null
  forecast_month: string | null
  place: Place
  input: string | null
  scenario: string | null
  threshold: { kind: ThresholdKind; value: number }
  url: string
  status: 'active' | 'disabled'
  disabled_reason: DisabledReason | null
  failing_since: string | null
  delivered_at: string | null
  created_at: string
  release: string | null
  values: WatchedValue[]
}

const COLUMNS = [
  'id',
  'name',
  'product',
  'country_code',
  'crop_code as crop',
  sql<string | null>`to_char(forecast_period, 'YYYY-MM')`.as('forecast_month'),
  sql<Place>`place`.as('place'),
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

/** Adds a subscription, unless its owner has as many as are allowed. */
export async function insertSubscription(
  trx: Transaction<Tables>,
  wanted: Wanted,
  limit: number,
): Promise<SubscriptionRow | 'too many'> {
  const { userId, series, place, threshold, told } = wanted
  // Held so that subscriptions made at the same time count each other.
  await holdAccount(trx, userId)
  if ((await countSubscriptions(trx, userId)) >= limit) return 'too many'
  return trx
    .insertInto('subscription')
    .values({
      user_id: userId,
      name: wanted.name,
      product: series.product,
      country_code: series.countryCode,
      crop_code: series.cropCode,
      forecast_period: series.forecastPeriod,
      place: sql`${JSON.stringify(place)}::jsonb`,
      input: wanted.input,
      scenario: wanted.scenario,
      threshold_kind: threshold.kind,
      threshold: threshold.value,
      url: wanted.url,
      host: new URL(wanted.url).host,
      secret: wanted.secret,
      release: wanted.release,
      told: sql`${JSON.stringify(told)}::jsonb`,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** How many subscriptions a user has. */
async function countSubscriptions(db: Kysely<Tables>, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('subscription')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return count
}

/** The subscriptions of a user, the newest first. */
export async function listSubscriptions(db: Kysely<Tables>, userId: string): Promise<SubscriptionRow[]> {
  return db
    .selectFrom('subscription')
    .select(COLUMNS)
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

/** Undefined where the user has none with this id, whatever it looks like. */
export async function findSubscription(
  db: Kysely<Tables>,
  userId: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  if (!isUuid(id)) return undefined
  return db
    .selectFrom('subscription')
    .select(COLUMNS)
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Where a subscription delivers to, and what signs; undefined where the user has none with this id. */
export async function findTarget(
  db: Kysely<Tables>,
  userId: string,
  id: string,
): Promise<{ url: string; secret: Buffer; previousSecret: Buffer | null } | undefined> {
  if (!isUuid(id)) return undefined
  return db
    .selectFrom('subscription')
    .select([
      'url',
      'secret',
      sql<Buffer | null>`case when previous_until > now() then previous_secret end`.as('previousSecret'),
    ])
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Deletes it with what is on its way; false where there is none. */
export async function deleteSubscription(db: Kysely<Tables>, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numDeletedRows } = await db
    .deleteFrom('subscription')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/**
 * Has a subscription told of changes again, first of the last one that was given up: under the id that it had. False where
 * there is none.
 */
export async function enableSubscription(
  trx: Transaction<Tables>,
  userId: string,
  id: string,
): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numUpdatedRows } = await trx
    .updateTable('subscription')
    .set({ disabled_at: null, disabled_reason: null, failing_since: null })
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await sql`
    update webhook_delivery
    set done_at = null, delivered = null, due_at = now(), created_at = now(), attempts = 0
    where not delivered and id = (
      select id from webhook_delivery where subscription_id = ${id} order by created_at desc, id limit 1
    )`.execute(trx)
  return true
}

/** Puts another secret in the place of one, which signs as well for a day. False where there is no such subscription. */
export async function renewSecret(
  db: Kysely<Tables>,
  userId: string,
  id: string,
  secret: Buffer,
): Promise<boolean> {
  if (!isUuid(id)) return false
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

/** The secrets of all subscriptions, as they are stored. */
export function sealedSecretsIn(db: Kysely<Tables>): SealedRows {
  return {
    async list(after, most) {
      let query = db
        .selectFrom('subscription')
        .select(['id', 'user_id as userId', 'secret', 'previous_secret as previousSecret'])
        .orderBy('id')
        .limit(most)
      if (after !== undefined) query = query.where('id', '>', after)
      const found = await query.execute()
      return found.map(({ id, userId, secret, previousSecret }) => ({
        id,
        userId,
        sealed: previousSecret === null ? [secret] : [secret, previousSecret],
      }))
    },
    // It may have become the one before by now.
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

/** How it is with all subscriptions. */
interface DeliveryState {
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

/** Begins secrets of Standard Webhooks; the rest is base64. */
const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** What signs the deliveries of a subscription. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** How such secrets are stored: whoever has the database alone can sign nothing. */
export interface SecretSeal {
  seal(userId: string, secret: string): Buffer
  /** Undefined where it was sealed with a secret of the service that is lost. */
  open(userId: string, sealed: Buffer): string | undefined
}

/** Seals secrets as texts. */
export function secretSealBy({ seal, open }: AccountSeal): SecretSeal {
  return {
    seal: (userId, secret) => seal(userId, Buffer.from(secret)),
    open: (userId, sealed) => open(userId, sealed)?.toString(),
  }
}
