import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Tokens } from '#schemas/auth.ts'
import { hashPassword } from '#src/accounts/credentials.ts'
import { startSession } from '#src/accounts/sessions.ts'
import { insertUser } from '#src/accounts/user-queries.ts'
import { type AuditEvent, insertRecord } from '#src/data/audit-queries.ts'
import type { Tables } from '#src/data/tables.ts'
import type { App } from '#src/http/app.ts'
import { createTestApp, type TestApp, type TestAppOptions } from './app.ts'
import { type Called, call } from './calls.ts'

/** Somebody with an account who has logged in. */
export interface Person extends Tokens {
  email: string
  password: string
  /** The headers of a request of this person. */
  headers: { authorization: string }
}

export const PASSWORD = 'teff grows at dawn'

export async function register(app: App, email = `${randomUUID()}@example.org`): Promise<string> {
  const response = await call(app, 'POST /auth/register', {
    payload: { email, password: PASSWORD, name: 'Amina Bekele' },
  })
  if (response.status !== 201) throw new Error(response.text)
  return email
}

export async function logIn(app: App, email: string, password = PASSWORD): Promise<Person> {
  const response = await tryLogIn(app, email, password)
  if (response.status !== 200) throw new Error(response.text)
  const tokens: Tokens = response.body
  return { ...tokens, email, password, headers: { authorization: `Bearer ${tokens.access_token}` } }
}

export function tryLogIn(app: App, email: string, password: string, from = '127.0.0.1'): Promise<Called> {
  return call(app, 'POST /auth/login', { payload: { email, password }, from })
}

/** The hash of {@link PASSWORD}: to make one takes longer than all else about an account. */
let passwordHash: Promise<string> | undefined

const ORIGIN = { userId: null, sessionId: null, keyId: null, network: '127.0.0.1', requestId: null }

const audit = async (db: Kysely<Tables>, event: AuditEvent) => {
  await insertRecord(db, event, { ...ORIGIN, operator: null })
}

/** Makes an account and a login in the database, as {@link register} and {@link logIn} do by requests. */
export async function newPerson({ database, accessTokens }: App): Promise<Person> {
  passwordHash ??= hashPassword(PASSWORD)
  const email = `${randomUUID()}@example.org`
  const account = { email, passwordHash: await passwordHash, name: 'Amina Bekele', organisation: null }
  const user = await insertUser(database.writer, account)
  if (!user) throw new Error(`there is an account of ${email}`)
  await audit(database.writer, { kind: 'account_made', userId: user.id })
  const credentials = { ...user, passwordHash: account.passwordHash }
  const use = { network: ORIGIN.network, userAgent: 'lightMyRequest' }
  const session = await startSession(database.writer, credentials, use, [], audit)
  if (!session) throw new Error(`the account of ${email} has another password`)
  const access_token = accessTokens.sign(user.id, session.id)
  return {
    access_token,
    token_type: 'Bearer',
    expires_in: accessTokens.lifetime,
    refresh_token: session.refreshToken,
    user,
    email,
    password: PASSWORD,
    headers: { authorization: `Bearer ${access_token}` },
  }
}

/** Makes an admin of somebody, before the first call with a token. */
export async function makeAdmin({ database, person }: TestAppWithPerson): Promise<void> {
  await database.writer
    .updateTable('app_user')
    .set({ role: 'admin' })
    .where('email', '=', person.email)
    .execute()
}

/** The service on a database of its own, and somebody who has logged in to it. */
export interface TestAppWithPerson extends TestApp {
  person: Person
}

/** Starts the service as {@link createTestApp} does, and logs somebody in. */
export async function createTestAppWithPerson(options?: TestAppOptions): Promise<TestAppWithPerson> {
  const service = await createTestApp(options)
  return { ...service, person: await newPerson(service.app) }
}
