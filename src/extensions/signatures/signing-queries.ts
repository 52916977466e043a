import type { Selectable } from 'kysely'
import { recordOperation } from '#src/data/audit-queries.ts'
import type { Db, Tables, Trx } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'

export type SigningKey = Selectable<Tables['signing_key']>

/** The newest first. */
export async function listSigningKeys(db: Db): Promise<SigningKey[]> {
  return db.selectFrom('signing_key').selectAll().orderBy('made_at', 'desc').orderBy('kid').execute()
}

/** Makes a key public, with a record. A known one stays as it is: a retired one stays retired. */
export async function keepSigningKey(trx: Trx, key: Pick<SigningKey, 'kid' | 'public_key'>): Promise<void> {
  const kept = await trx
    .insertInto('signing_key')
    .values(key)
    .onConflict((conflict) => conflict.column('kid').doNothing())
    .returning('kid')
    .executeTakeFirst()
  if (kept) await recordOperation(trx, { kind: 'signing_key_made', detail: kept })
}

/** @returns undefined for an unknown key */
export async function findSigningKey(db: Db, kid: string): Promise<SigningKey | undefined> {
  return db.selectFrom('signing_key').selectAll().where('kid', '=', kid).executeTakeFirst()
}

/** @throws {OperatorError} for an unknown key, and one that is retired already */
export async function retireSigningKey(trx: Trx, kid: string): Promise<void> {
  const key = await trx
    .selectFrom('signing_key')
    .select('retired_at')
    .where('kid', '=', kid)
    .forUpdate()
    .executeTakeFirst()
  if (!key) {
    throw new OperatorError(`There is no key ${kid}; \`agro signing-keys list\` shows them.`, {
      code: 'NOT_FOUND',
    })
  }
  if (key.retired_at) throw new OperatorError(`${kid} is retired already.`)
  await trx
    .updateTable('signing_key')
    .set(({ fn }) => ({ retired_at: fn<Date>('now') }))
    .where('kid', '=', kid)
    .execute()
  await recordOperation(trx, { kind: 'signing_key_retired', detail: { kid } })
}
