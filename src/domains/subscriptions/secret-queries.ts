import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'

/** The secrets of a subscription, sealed. */
export interface SealedSecrets {
  id: string
  userId: string
  secret: Buffer
  /** What it was before it was renewed. */
  previousSecret: Buffer | null
}

/**
 * Those of some subscriptions, in the order of their ids.
 *
 * @param after the id of the last one of those before; undefined for the first ones
 */
export async function listSecrets(
  db: Kysely<Tables>,
  after: string | undefined,
  most: number,
): Promise<SealedSecrets[]> {
  let query = db
    .selectFrom('subscription')
    .select(['id', 'user_id as userId', 'secret', 'previous_secret as previousSecret'])
    .orderBy('id')
    .limit(most)
  if (after !== undefined) query = query.where('id', '>', after)
  return query.execute()
}

/** Puts a secret that is sealed anew in the place of one, where that is still there: also as the one before, by now. */
export async function replaceSecret(
  db: Kysely<Tables>,
  id: string,
  secret: Buffer,
  replacement: Buffer,
): Promise<void> {
  await sql`
    update subscription
    set
      secret = case when secret = ${secret}::bytea then ${replacement}::bytea else secret end,
      previous_secret = case
        when previous_secret = ${secret}::bytea then ${replacement}::bytea
        else previous_secret
      end
    where id = ${id} and ${secret}::bytea in (secret, previous_secret)`.execute(db)
}
