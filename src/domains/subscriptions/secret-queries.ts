import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { SealedRows } from '#src/http/account-seal.ts'

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
