import { type Kysely, sql, type Transaction } from 'kysely'
import type { ApiKey } from '#schemas/keys.ts'
import type { Role } from '#schemas/user.ts'
import type { Tables } from '#src/database/tables.ts'
import { isoTime } from '#src/database/time.ts'
import { isUuid } from '#src/lib/uuid.ts'

const KEY_COLUMNS = [
  'id',
  'name',
  'hint',
  isoTime('created_at').as('created_at'),
  isoTime<string | null>('expires_at').as('expires_at'),
  isoTime<string | null>('last_used_at').as('last_used_at'),
] as const

export interface NewKey {
  userId: string
  name: string
  hint: string
  hash: Buffer
  /** Null for a key that does not expire. */
  expiresInDays: number | null
}

/**
 * Adds a key, in the place of the user's expired ones.
 *
 * @returns undefined where the user has as many as are allowed, or is gone
 */
export async function insertKey(
  trx: Transaction<Tables>,
  key: NewKey,
  limit: number,
): Promise<ApiKey | undefined> {
  const { userId, name, hint, hash, expiresInDays } = key
  // Held so that keys made at the same time count each other.
  const { rows } = await sql`select from app_user where id = ${userId} for no key update`.execute(trx)
  if (rows.length === 0) return undefined
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
  if (count >= limit) return undefined
  return trx
    .insertInto('api_key')
    .values({
      user_id: userId,
      name,
      hint,
      hash,
      expires_at: expiresInDays === null ? null : sql<Date>`now() + make_interval(days => ${expiresInDays})`,
    })
    .returning(KEY_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** The keys of a user, the newest first. */
export async function listKeys(db: Kysely<Tables>, userId: string): Promise<ApiKey[]> {
  return db
    .selectFrom('api_key')
    .select(KEY_COLUMNS)
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

/** Deletes a key of a user; false where the user has none with this id, whatever it looks like. */
export async function deleteKey(db: Kysely<Tables>, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numDeletedRows } = await db
    .deleteFrom('api_key')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Who a key that has not expired belongs to. */
export async function findKeyUser(
  db: Kysely<Tables>,
  hash: Buffer,
): Promise<{ id: string; role: Role; keyId: string } | undefined> {
  return db
    .selectFrom('api_key')
    .innerJoin('app_user', 'app_user.id', 'api_key.user_id')
    .select(['app_user.id', 'app_user.role', 'api_key.id as keyId'])
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
