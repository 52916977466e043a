import { sql } from 'kysely'
import { ACCOUNT_DATA } from '#src/accounts/account-data.ts'
import { whereOwned } from '#src/accounts/user-queries.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Db, Tables, Trx } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import {
  inPortions,
  insert,
  listRelations,
  type Relation,
  readAsOfNow,
  readRows,
  sameRelation,
  settleText,
} from './relation-queries.ts'

const isChange = () => sql`kind = any (${ACCOUNT_DATA.flatMap(({ changes = [] }) => changes)}::text[])`
/** Numbers alone begin anew in a database that was itself restored. */
const RECORD = sql<string>`concat_ws(' ', id, extract(epoch from at))`

/** The account of a copy. */
interface CopiedAccount {
  id: string
  email: string
  emailKey: string
  /** Records of changes that the copy has, each with its number and time. */
  changes: string[]
  /** Time of its newest audit record; null without any. */
  recordedUntil: Date | null
}

/** Undefined where the copy has none with this key of an e-mail. */
export async function findCopiedAccount(copy: Db, emailKey: string): Promise<CopiedAccount | undefined> {
  return copy
    .selectFrom('app_user')
    .select([
      'id',
      'email',
      'email_key as emailKey',
      sql<
        string[]
      >`array(select ${RECORD} from audit_record where user_id = app_user.id and ${isChange()})`.as(
        'changes',
      ),
      sql<Date | null>`(select max(at) from audit_record)`.as('recordedUntil'),
    ])
    .where('email_key', '=', emailKey)
    .executeTakeFirst()
}

/** Whether rows of a deleted account are still to be removed. */
const leftOf = (user: string) =>
  ACCOUNT_DATA.flatMap(({ leftIn }) =>
    leftIn === undefined ? [] : sql`exists (select from ${sql.table(leftIn)} where user_id = ${user})`,
  )

/** Not there where a role, a password, a key or a second factor has changed since the copy. */
const KEYS: (keyof Tables)[] = ['api_key', 'api_key_usage']

interface RestoredAccount {
  /** Whether a role, a password, a key or a second factor has changed since the copy: it has the rights of none then. */
  changed: boolean
  /** Rows by table. */
  rows: Partial<Record<keyof Tables, number>>
}

/**
 * Restores a deleted account from a copy of the database with the same schema, with its ids, in one transaction: all that
 * belonged to it but sessions, tokens, and messages on their way.
 *
 * @param lockedHash of a password without an owner, where the one of the copy was changed since
 * @throws {OperatorError} where the e-mail or the id is taken, or the deletion still goes on
 */
export async function restoreAccount(
  db: Db,
  copy: Db,
  account: CopiedAccount,
  lockedHash: string,
): Promise<RestoredAccount> {
  return inTransaction(db, async (trx) => {
    await settleText(trx)
    const changed = await lookAt(trx, account)
    const rows = await readAsOfNow(copy, async (source) => {
      await refuseOther(trx, source, account.id)
      return copyRows(trx, source, account.id, changed ? KEYS : [])
    })
    if (changed) {
      const locked = { role: 'user' as const, password_hash: lockedHash }
      await trx.updateTable('app_user').set(locked).where('id', '=', account.id).execute()
    }
    await countAnew(trx, account.id)
    await recordOperation(trx, { kind: 'account_restored', userId: account.id, detail: { changed } })
    return { changed, rows }
  })
}

/** Refuses what cannot be restored; gives whether rights were changed since the copy. */
async function lookAt(trx: Trx, account: CopiedAccount): Promise<boolean> {
  const { id, email, emailKey, changes, recordedUntil } = account
  const { rows } = await sql<{ taken: string | null; going: boolean; changed: boolean }>`
    select
      (select email from app_user where id = ${id} or email_key = ${emailKey} limit 1) as taken,
      exists (select from account_removal where user_id = ${id})
        or ${sql.join([sql`false`, ...leftOf(id)], sql` or `)} as going,
      exists (
        select from audit_record where user_id = ${id} and ${isChange()} and ${RECORD} <> all (${changes}::text[])
      )
        -- Records of the time since the copy may have been deleted.
        or coalesce((select min(at) from audit_record) > ${recordedUntil}::timestamptz, true) as changed`.execute(
    trx,
  )
  const [{ taken, going, changed }] = rows as [(typeof rows)[number]]
  if (taken !== null) {
    const sentence = `${taken} has an account here: nothing is restored over it.`
    throw new OperatorError(sentence, { code: 'ALREADY_THERE' })
  }
  if (!going) return changed
  throw new OperatorError(
    `Rows of ${email} are still being removed, which the running service does. Try again in a minute.`,
  )
}

async function copyRows(
  trx: Trx,
  source: Trx,
  user: string,
  left: (keyof Tables)[],
): Promise<RestoredAccount['rows']> {
  const [ours, theirs] = [await listRelations(trx), await listRelations(source)]
  const relationOf = (some: Relation[], table: string) => some.find(({ name }) => name === table) as Relation
  const counts: RestoredAccount['rows'] = {}
  const all = ACCOUNT_DATA.flatMap(({ rows }) => Object.entries(rows))
  for (const [table, where] of all as [keyof Tables, string][]) {
    if (left.includes(table)) continue
    const relation = sameRelation(relationOf(ours, table), relationOf(theirs, table))
    counts[table] = await inPortions(readRows(source, table, whereOwned(where, user)), (rows) =>
      insert(trx, relation, rows),
    )
  }
  return counts
}

/** Numbers of templates, collections and audit records mean the same in both where one was made of the other. */
async function refuseOther(trx: Trx, source: Trx, user: string): Promise<void> {
  const { rows: used } = await sql<{ id: string; checksum: Buffer }>`
    select id::text as id, checksum
    from answer_template
    where id in (select template_id from history_item where user_id = ${user})`.execute(source)
  const { rows } = await sql`
    select from unnest(
      ${used.map(({ id }) => id)}::bigint[],
      ${used.map(({ checksum }) => checksum)}::bytea[]
    ) as used (id, checksum)
    join answer_template using (id, checksum)`.execute(trx)
  if (rows.length === used.length) return
  throw new OperatorError('The copy is not of this database: its answers have other numbers.')
}

/** What counts towards quotas and statistics of all accounts. */
async function countAnew(trx: Trx, user: string): Promise<void> {
  await sql`
    insert into history_size (user_id, items, bytes)
    select user_id, count(*), sum(bytes) from history_item where user_id = ${user} group by user_id`.execute(
    trx,
  )
  await sql`
    insert into usage_of_all as usage (day, product, country_code, crop_code, slot, advisories)
    select day, product, country_code, crop_code, 0, sum(advisories)
    from user_usage
    where user_id = ${user}
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4
    on conflict (day, product, country_code, crop_code, slot)
      do update set advisories = usage.advisories + excluded.advisories`.execute(trx)
}
