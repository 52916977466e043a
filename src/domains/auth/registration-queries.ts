import { type Kysely, sql, type Transaction } from 'kysely'
import type { UserProfile } from '#schemas/user.ts'
import type { Tables } from '#src/database/tables.ts'
import { isoTime } from '#src/database/time.ts'
import { emailKey, type NewUser, storedEmail } from '#src/domains/user/queries.ts'

/** Rows that are deleted in one statement. */
const PIECE = 1000

/** More of one e-mail than its owner has made by mistake; of others the oldest do not count. */
const CONFIRMED_AT_ONCE = 8

/** A token of a mail, and how long it can be used. */
export interface TokenToKeep {
  hash: Buffer
  hours: number
}

/**
 * Keeps a registration until its e-mail is confirmed. Whether there is an account with it is not looked at:
 * nothing here depends on that, neither what is done nor how long it takes.
 *
 * @returns the account as it will be
 */
export async function insertRegistration(
  db: Kysely<Tables>,
  user: NewUser,
  token: TokenToKeep,
): Promise<UserProfile> {
  const kept = await db
    .insertInto('pending_registration')
    .values({
      email: storedEmail(user.email),
      email_key: emailKey(user.email),
      password_hash: user.passwordHash,
      name: user.name,
      organisation: user.organisation,
      token_hash: token.hash,
      expires_at: hoursFromNow(token.hours),
    })
    .returning(['id', 'email', 'name', 'organisation', isoTime('created_at').as('created_at')])
    .executeTakeFirstOrThrow()
  return { ...kept, role: 'user', email_confirmed: false }
}

/** Gives the newest registration of an e-mail another token; undefined where none waits. */
export async function renewRegistration(
  db: Kysely<Tables>,
  email: string,
  token: TokenToKeep,
): Promise<{ id: string; email: string } | undefined> {
  return db
    .updateTable('pending_registration')
    .set({ token_hash: token.hash, expires_at: hoursFromNow(token.hours) })
    .where('id', '=', ({ selectFrom }) =>
      selectFrom('pending_registration')
        .select('id')
        .where('email_key', '=', emailKey(email))
        .where('expires_at', '>', sql<Date>`now()`)
        .orderBy('created_at', (order) => order.desc())
        .limit(1),
    )
    .returning(['id', 'email'])
    .executeTakeFirst()
}

/** How many registrations of an e-mail wait. */
export async function countRegistrations(db: Kysely<Tables>, email: string): Promise<number> {
  const { count } = await db
    .selectFrom('pending_registration')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('email_key', '=', emailKey(email))
    .where('expires_at', '>', sql<Date>`now()`)
    .executeTakeFirstOrThrow()
  return count
}

export interface WaitingRegistration {
  id: string
  emailKey: string
  passwordHash: string
}

/**
 * The registrations of the e-mail that a token was sent to, that of the token first; none where it is of no use. Addresses
 * may have a key in common and be of different people, such as those at `straße` and `strasse`: a token confirms the one that
 * it was sent to alone, however its letters' case.
 */
export async function findRegistrations(
  db: Kysely<Tables>,
  tokenHash: Buffer,
): Promise<WaitingRegistration[]> {
  const { rows } = await sql<WaitingRegistration>`
    select waiting.id, waiting.email_key as "emailKey", waiting.password_hash as "passwordHash"
    from pending_registration as own
    join pending_registration as waiting on waiting.email_key = own.email_key
      and lower(waiting.email) = lower(own.email)
      and waiting.expires_at > now()
    where own.token_hash = ${tokenHash} and own.expires_at > now()
    order by waiting.id = own.id desc, waiting.created_at desc
    limit ${CONFIRMED_AT_ONCE}`.execute(db)
  return rows
}

/**
 * Makes an account of a registration. All others of its e-mail are over.
 *
 * @returns its id; undefined where another request was faster, or there is an account with the e-mail
 */
export async function admitRegistration(
  trx: Transaction<Tables>,
  { id, emailKey }: WaitingRegistration,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    insert into app_user (id, email, email_key, password_hash, name, organisation, email_confirmed, created_at)
    select id, email, email_key, password_hash, name, organisation, true, created_at
    from pending_registration
    where id = ${id}
    on conflict (email_key) do nothing
    returning id`.execute(trx)
  await trx.deleteFrom('pending_registration').where('email_key', '=', emailKey).execute()
  return rows[0]?.id
}

/** Deletes the registrations that nobody has confirmed in time. */
export async function deleteExpiredRegistrations(db: Kysely<Tables>): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from pending_registration where id in (
      select id from pending_registration where expires_at < now() limit ${PIECE} for update skip locked
    )`.execute(db)
  return Number(numAffectedRows)
}

function hoursFromNow(hours: number) {
  return sql<Date>`now() + make_interval(hours => ${hours}::integer)`
}
