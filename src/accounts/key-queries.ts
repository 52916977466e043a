import { sql } from 'kysely'
import { type ApiKey, type NewApiKey, type Scope, USAGE_DAYS } from '#schemas/keys.ts'
import type { Role } from '#schemas/user.ts'
import { isoTime } from '#src/data/sql.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import type { KeyUsage } from '#src/http/plugins/request-counts.ts'
import { isUuid } from '#src/lib/uuid.ts'
import { isFreshSession } from './queries.ts'

/** Longer than it is shown, for late questions. */
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

interface NewKey {
  userId: string
  sessionId: string
  name: string
  hint: string
  hash: Buffer
  scopes: Scope[]
  /** Null for a key that does not expire. */
  expiresInDays: number | null
}

/** Adds a key, and deletes expired ones. The account is held: no key is made while all end. Undefined without the session. */
export async function insertKey(trx: Trx, key: NewKey): Promise<Omit<NewApiKey, 'key'> | undefined> {
  const { userId, sessionId, name, hint, hash, scopes, expiresInDays } = key
  // The process may have looked the session up seconds ago.
  if ((await isFreshSession(trx, sessionId)) === undefined) return undefined
  await trx
    .deleteFrom('api_key')
    .where('user_id', '=', userId)
    .where('expires_at', '<', sql<Date>`now()`)
    .execute()
  return trx
    .insertInto('api_key')
    .values({
      user_id: userId,
      name,
      hint,
      hash,
      scopes,
      expires_at: sql<Date | null>`now() + make_interval(days => ${expiresInDays}::integer)`,
    })
    .returning(KEY_COLUMNS)
    .executeTakeFirstOrThrow()
}

export async function listKeys(db: Db, userId: string): Promise<ApiKey[]> {
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

/** Deletes a key and those made with it; false where the user has none with this id, which may be any text. */
export async function deleteKey(db: Db, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numDeletedRows } = await db
    .deleteFrom('api_key')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function deleteApiKeys(db: Db, userId: string): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('api_key').where('user_id', '=', userId).executeTakeFirst()
  return Number(numDeletedRows)
}

export async function findKeyUser(
  db: Db,
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

/** Notes the use of a key, at most once a minute. */
export async function touchKey(db: Db, id: string): Promise<void> {
  await sql`
    update api_key set last_used_at = now()
    where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')`.execute(db)
}

/** All processes have one order, which avoids deadlocks. Usage of deleted keys is dropped. */
export async function addKeyUsage(db: Db, usage: KeyUsage[]): Promise<void> {
  const column = <Name extends keyof KeyUsage>(name: Name) => usage.map((one) => one[name])
  await sql`
    insert into api_key_usage as counted (key_id, day, requests)
    select key_id, day, requests
    from unnest(
      ${column('keyId')}::uuid[], ${column('day')}::date[], ${column('requests')}::bigint[]
    ) as arriving (key_id, day, requests)
    join api_key on api_key.id = key_id
    order by key_id, day
    for key share of api_key
    on conflict (key_id, day) do update set requests = counted.requests + excluded.requests`.execute(db)
}

export async function deleteOldUsage(db: Db): Promise<void> {
  await sql`
    delete from api_key_usage
    where day < (now() at time zone 'UTC')::date - ${USAGE_KEPT_DAYS}::integer`.execute(db)
}
