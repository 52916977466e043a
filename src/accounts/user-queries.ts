import { sql } from 'kysely'
import type { ProfileChanges, Role, UserProfile } from '#schemas/user.ts'
import type { Config } from '#src/config.ts'
import { isoTime } from '#src/data/sql.ts'
import type { Db, Tables, Trx } from '#src/data/tables.ts'
import { doAlone } from '#src/data/work-lock.ts'
import { ApiError, type ErrorCode, EXAMPLE_SENTENCES, OperatorError } from '#src/errors.ts'
import { countHistory, deleteItems, deleteUsage, type RemovedHistory } from '#src/history/queries.ts'
import { ACCOUNT_DATA, ACCOUNT_LIMITS } from './account-data.ts'

/** Without space around it, in the composed form of Unicode. */
export function storedEmail(email: string): string {
  return email.trim().normalize('NFC')
}

/**
 * The same for addresses that differ in case. Upper case comes first, since it joins letters with two lower forms, such
 * as the two sigmas. It also joins `ß` and `ss`, of different people: rights of one address are not for the other.
 */
export function emailKey(email: string): string {
  return storedEmail(email).toUpperCase().toLowerCase().normalize('NFC')
}

const PROFILE = [
  'id',
  'email',
  'name',
  'organisation',
  'role',
  'email_confirmed',
  isoTime('created_at').as('created_at'),
] as const

export interface Credentials {
  id: string
  passwordHash: string
}

export interface NewUser {
  email: string
  passwordHash: string
  name: string
  organisation: string | null
}

/** Undefined where the e-mail has an account. */
export async function insertUser(db: Db, user: NewUser): Promise<UserProfile | undefined> {
  return db
    .insertInto('app_user')
    .values({
      email: storedEmail(user.email),
      email_key: emailKey(user.email),
      password_hash: user.passwordHash,
      name: user.name,
      organisation: user.organisation,
    })
    .onConflict((conflict) => conflict.column('email_key').doNothing())
    .returning(PROFILE)
    .executeTakeFirst()
}

export async function findUser(db: Db, id: string): Promise<UserProfile | undefined> {
  return db.selectFrom('app_user').select(PROFILE).where('id', '=', id).executeTakeFirst()
}

export async function findCredentials(
  db: Db,
  email: string,
): Promise<(Credentials & { email: string; emailConfirmed: boolean }) | undefined> {
  return db
    .selectFrom('app_user')
    .select(['id', 'email', 'password_hash as passwordHash', 'email_confirmed as emailConfirmed'])
    .where('email_key', '=', emailKey(email))
    .executeTakeFirst()
}

export async function findPasswordHash(
  db: Db,
  id: string,
): Promise<{ email: string; passwordHash: string } | undefined> {
  return db
    .selectFrom('app_user')
    .select(['email', 'password_hash as passwordHash'])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Replaces the hash that was read; false where another request has changed it, or the account is gone. */
export async function replacePasswordHash(
  db: Db,
  { id, passwordHash }: Credentials,
  replacement: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('app_user')
    .set({ password_hash: replacement })
    .where('id', '=', id)
    .where('password_hash', '=', passwordHash)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Sets the password of an owner who was reached at the e-mail. */
export async function resetPasswordHash(trx: Trx, id: string, passwordHash: string): Promise<void> {
  await trx
    .updateTable('app_user')
    .set({ password_hash: passwordHash, email_confirmed: true })
    .where('id', '=', id)
    .execute()
}

export async function confirmEmail(db: Db, id: string): Promise<void> {
  await db.updateTable('app_user').set({ email_confirmed: true }).where('id', '=', id).execute()
}

/** Undefined where the account is gone. */
export async function updateUser(
  db: Db,
  id: string,
  { name, organisation }: ProfileChanges,
): Promise<UserProfile | undefined> {
  const named = name ?? undefined
  if (named === undefined && organisation === undefined) return findUser(db, id)
  return db
    .updateTable('app_user')
    .set({ ...(named !== undefined && { name: named }), ...(organisation !== undefined && { organisation }) })
    .where('id', '=', id)
    .returning(PROFILE)
    .executeTakeFirst()
}

/** Locks an account until the transaction ends; a change of several of its rows begins so. */
export async function holdAccount(trx: Trx, id: string): Promise<void> {
  await sql`select from app_user where id = ${id} for no key update`.execute(trx)
}

/** A limit as operators have set it. Its refusal has the code of all limits in the details. */
export function findLimit(name: string, config: Config) {
  const { of, most, setting } = ACCOUNT_LIMITS[name] as (typeof ACCOUNT_LIMITS)[string]
  const code = name as ErrorCode
  const bound = setting ? (config[setting.name] as number) : most
  const sentence = EXAMPLE_SENTENCES[code].replace(String(most), String(bound))
  const details = [{ field: of, message: `an account may have ${bound} ${of}`, code: 'LIMIT_REACHED' }]
  const refuse = () => new ApiError(code, (bound === 0 && setting?.off) || sentence, details)
  return { code, most: bound, refuse }
}

/** All limits of what accounts have in a table, which is among the rows of `ACCOUNT_DATA`. */
export function findLimits(table: keyof Tables, config: Config) {
  const owned = ACCOUNT_DATA.map(({ rows }) => rows[table]).find(Boolean) as string
  const limits = Object.entries(ACCOUNT_LIMITS).flatMap(([name, limit]) =>
    limit.table === table ? { rows: owned, ...limit, ...findLimit(name, config) } : [],
  )
  return {
    codes: limits.map(({ code }) => code),
    /** Adds a row, or undoes that where it is over a limit. Simultaneous requests count each other. */
    async add<Row>(trx: Trx, userId: string, insert: () => Promise<Row>): Promise<Row> {
      await holdAccount(trx, userId)
      const row = await insert()
      for (const { rows, most, refuse } of limits) {
        const { count } = await trx
          .selectFrom(table as 'api_key')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where(whereOwned(rows, userId))
          .executeTakeFirstOrThrow()
        if (count > most) throw refuse()
      }
      return row
    },
  }
}

/** @param where with `:user` for the id of the account */
export function whereOwned(where: string, userId: string) {
  const texts = where.split(':user').map((text) => sql.raw(text))
  return sql<boolean>`${sql.join(texts, sql`${userId}`)}`
}

interface RemovedRecords extends RemovedHistory {
  accounts: number
  sessions: number
  keys: number
}

/** Deletes an account, and counts its rows. Those of the history and of sessions may be a million: a job deletes them. */
export async function deleteUser(trx: Trx, id: string): Promise<RemovedRecords> {
  // The lock comes first, so that nothing is added after the count.
  await sql`select from app_user where id = ${id} for update`.execute(trx)
  const { sessions, keys } = await trx
    .selectNoFrom(({ selectFrom, fn }) => [
      selectFrom('session').select(fn.countAll<number>().as('n')).where('user_id', '=', id).as('sessions'),
      selectFrom('api_key').select(fn.countAll<number>().as('n')).where('user_id', '=', id).as('keys'),
    ])
    .executeTakeFirstOrThrow()
  const history = await countHistory(trx, id)
  const { numDeletedRows } = await trx.deleteFrom('app_user').where('id', '=', id).executeTakeFirst()
  return { accounts: Number(numDeletedRows), sessions: sessions ?? 0, keys: keys ?? 0, ...history }
}

export async function listUsers(db: Db): Promise<UserProfile[]> {
  return db.selectFrom('app_user').select(PROFILE).orderBy('email_key').execute()
}

/** Gives the id of the account. Different people may have one key (see `emailKey`): the named one alone gets the role. */
export async function setRole(db: Db, email: string, role: Role): Promise<string> {
  const account = await db
    .updateTable('app_user')
    .set({ role })
    .where('email_key', '=', emailKey(email))
    .returning(['id', 'email'])
    .executeTakeFirst()
  if (account?.email.toLowerCase() !== storedEmail(email).toLowerCase()) throw noAccount(email)
  return account.id
}

export function noAccount(email: string): OperatorError {
  return new OperatorError(`There is no account ${email}; \`agro users list\` shows them.`, {
    code: 'NOT_FOUND',
  })
}

/** The same in all processes. */
const REMOVAL_LOCK = 7_239_444

/** Rows of one transaction: on the embedded database others wait for it. */
const PIECE = 500

/** Other rows of a deleted account, in this order: nothing cascades far. */
const LEFTOVERS = [deleteUsage, deleteRefreshTokens, deleteSessions]

/**
 * Deletes some rows of deleted accounts, unless another process does; true where more may be left. An extension that is off
 * keeps its data, but none of accounts that are deleted.
 */
export async function removePiece(db: Db): Promise<boolean> {
  const pieces = [removeOwnPiece, ...ACCOUNT_DATA.map((data) => data.removePiece)]
  let isMore = false
  for (const remove of pieces) if (await remove?.(db)) isMore = true
  return isMore
}

async function removeOwnPiece(db: Db): Promise<boolean> {
  const more = await doAlone(db, REMOVAL_LOCK, async (trx) => {
    const removal = await firstRemoval(trx)
    if (removal === undefined) return false
    if (await removeItems(trx, removal)) return true
    const { userId } = removal
    for (const remove of LEFTOVERS) {
      if ((await remove(trx, userId, PIECE)) > 0) return true
    }
    // An account deleted before there was a trigger leaves it.
    await trx.deleteFrom('history_size').where('user_id', '=', userId).execute()
    await trx.deleteFrom('account_removal').where('user_id', '=', userId).execute()
    return (await firstRemoval(trx)) !== undefined
  })
  return more ?? false
}

interface Removal {
  userId: string
  /** Its last deleted item, in the order of ids. */
  through: string
}

async function firstRemoval(trx: Trx): Promise<Removal | undefined> {
  return trx
    .selectFrom('account_removal')
    .select(['user_id as userId', 'through'])
    .orderBy('removed_at')
    .limit(1)
    .executeTakeFirst()
}

async function removeItems(trx: Trx, { userId, through }: Removal): Promise<boolean> {
  const last = await deleteItems(trx, userId, through, PIECE)
  if (last === null) return false
  await trx.updateTable('account_removal').set({ through: last }).where('user_id', '=', userId).execute()
  return true
}

async function deleteRefreshTokens(trx: Trx, userId: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from refresh_token
    where hash in (
      select hash from refresh_token join session on session.id = session_id
      where user_id = ${userId}
      limit ${limit}
    )`.execute(trx)
  return Number(numAffectedRows)
}

async function deleteSessions(trx: Trx, userId: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from session
    where id in (select id from session where user_id = ${userId} limit ${limit})`.execute(trx)
  return Number(numAffectedRows)
}
