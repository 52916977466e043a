import { type Kysely, sql, type Transaction } from 'kysely'
import { type ApiKey, type NewApiKey, type Scope, USAGE_DAYS } from '#schemas/keys.ts'
import type { Role } from '#schemas/user.ts'
import type { Tables } from '#src/database/tables.ts'
import { isoTime } from '#src/database/time.ts'
import type { KeyUsage } from '#src/http/key-usage.ts'
import { isUuid } from '#src/lib/uuid.ts'

/** Usage is kept for longer than it is shown, for questions that come late. */
const USAGE_KEPT_DAYS = 90

const KEY_COLUMNS = [
  'id',
  'name',
  'hint',
  'scopes',
  'parent_id as made_by',
  isoTime('created_at').as('created_at'),
  isoTime<string | null>('expires_at').as('expires_at'),
  isoTime<string | null>('last_used_at').as('last_used_at'),
] as const

/** Who makes a key: a session, or another key. */
export interface KeyMaker {
  /** The user's id. */
  id: string
  sessionId: string | null
  keyId: string | null
}

export interface NewKey {
  maker: KeyMaker
  name: string
  hint: string
  hash: Buffer
  scopes: Scope[]
  /** Null for a key that does not expire before its maker does. */
  expiresInDays: number | null
}

/**
 * Adds a key, in the place of the user's expired ones. It expires with the key that makes it, or earlier.
 *
 * @returns what is in the way: its maker has ended, or the user has as many as are allowed
 */
export async function insertKey(
  trx: Transaction<Tables>,
  key: NewKey,
  limit: number,
): Promise<Omit<NewApiKey, 'key'> | 'maker ended' | 'too many'> {
  const { maker, name, hint, hash, scopes, expiresInDays } = key
  const { id: userId, keyId } = maker
  // Held so that keys made at the same time count each other, and that what ends their maker ends them.
  await sql`select from app_user where id = ${userId} for no key update`.execute(trx)
  if (!(await isLiving(trx, maker))) return 'maker ended'
  await trx
    .deleteFrom('api_key')
    .where('user_id', '=', userId)
    .where('expires_at', '<', sql<Date>`now()`)
    .execute()
  const { count } = await trx
    .selectFrom('api_key')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  if (count >= limit) return 'too many'
  return trx
    .insertInto('api_key')
    .values({
      user_id: userId,
      name,
      hint,
      hash,
      scopes,
      parent_id: keyId,
      // Of two times the earlier one, and the other where one is null.
      expires_at: sql<Date | null>`least(
        now() + make_interval(days => ${expiresInDays}::integer),
        (select expires_at from api_key where id = ${keyId})
      )`,
    })
    .returning(KEY_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Whether a session or a key goes on that this process may have looked up seconds ago. */
async function isLiving(db: Kysely<Tables>, { sessionId, keyId }: KeyMaker): Promise<boolean> {
  const { rows } = await sql`
    select from session where id = ${sessionId} and ended_at is null and expires_at > now()
    union all
    select from api_key where id = ${keyId} and (expires_at is null or expires_at > now())`.execute(db)
  return rows.length > 0
}

/** The keys of a user, the newest first. */
export async function listKeys(db: Kysely<Tables>, userId: string): Promise<ApiKey[]> {
  return db
    .selectFrom('api_key')
    .select([
      ...KEY_COLUMNS,
      sql<ApiKey['usage']>`coalesce(
        (
          select json_agg(json_build_object('day', day, 'requests', requests) order by day)
          from api_key_usage
          where key_id = api_key.id and day > (now() at time zone 'UTC')::date - ${USAGE_DAYS}::integer
        ),
        '[]'
      )`.as('usage'),
    ])
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

/** Deletes a key of a user, and those made with it; false where the user has none with this id, whatever it looks like. */
export async function deleteKey(db: Kysely<Tables>, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numDeletedRows } = await db
    .deleteFrom('api_key')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Deletes the keys of a user with a scope, and those made with them. */
export async function deleteKeysWithScope(db: Kysely<Tables>, userId: string, scope: Scope): Promise<void> {
  await db
    .deleteFrom('api_key')
    .where('user_id', '=', userId)
    .where(sql<boolean>`${scope} = any(scopes)`)
    .execute()
}

/** Who a key that has not expired belongs to. */
export async function findKeyUser(
  db: Kysely<Tables>,
  hash: Buffer,
): Promise<{ id: string; role: Role; keyId: string; scopes: Scope[] } | undefined> {
  return db
    .selectFrom('api_key')
    .innerJoin('app_user', 'app_user.id', 'api_key.user_id')
    .select(['app_user.id', 'app_user.role', 'api_key.id as keyId', 'api_key.scopes'])
    .where('api_key.hash', '=', hash)
    .where(({ or, eb }) =>
      or([eb('api_key.expires_at', 'is', null), eb('api_key.expires_at', '>', sql<Date>`now()`)]),
    )
    .executeTakeFirst()
}

/** Notes that a key was used, unless that was noted less than a minute ago. */
export async function touchKey(db: Kysely<Tables>, id: string): Promise<void> {
  await sql`
    update api_key set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')`.execute(db)
}

/** Adds usage of keys to what is kept, in one order for all processes; that of deleted keys is of no use. */
export async function addKeyUsage(db: Kysely<Tables>, usage: KeyUsage[]): Promise<void> {
  const column = <Name extends keyof KeyUsage>(name: Name) => usage.map((one) => one[name])
  await sql`
    insert into api_key_usage as kept (key_id, day, requests)
    select key_id, day, requests
    from unnest(
      ${column('keyId')}::uuid[], ${column('day')}::date[], ${column('requests')}::bigint[]
    ) as arriving (key_id, day, requests)
    join api_key on api_key.id = key_id
    order by key_id, day
    for key share of api_key
    on conflict (key_id, day) do update set requests = kept.requests + excluded.requests`.execute(db)
}

export async function deleteOldUsage(db: Kysely<Tables>): Promise<void> {
  await sql`
    delete from api_key_usage
    where day < (now() at time zone 'UTC')::date - ${USAGE_KEPT_DAYS}::integer`.execute(db)
}
