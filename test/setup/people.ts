import { randomUUID } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import type { Tokens } from '#schemas/auth.ts'
import type { UserProfile } from '#schemas/user.ts'
import { type SignedInSession, startSession } from '#src/accounts/sessions.ts'
import { insertUser } from '#src/accounts/user-queries.ts'
import type { App } from '#src/http/app.ts'
import { createTestApp, type TestApp, type TestAppOptions } from './app.ts'

/** Somebody with an account who has logged in. */
export interface Person extends Tokens {
  email: string
  password: string
  /** The headers of a request of this person. */
  headers: { authorization: string }
}

export const PASSWORD = 'teff grows at dawn'

export async function register(app: App, email = `${randomUUID()}@example.org`): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url: '/auth/register',
    payload: { email, password: PASSWORD, name: 'Amina Bekele' },
  })
  if (response.statusCode !== 201) throw new Error(response.body)
  return email
}

export async function logIn(app: App, email: string, password = PASSWORD): Promise<Person> {
  const response = await tryLogIn(app, email, password)
  if (response.statusCode !== 200) throw new Error(response.body)
  const tokens = response.json<Tokens>()
  return { ...tokens, email, password, headers: { authorization: `Bearer ${tokens.access_token}` } }
}

export function tryLogIn(
  app: App,
  email: string,
  password: string,
  remoteAddress = '127.0.0.1',
): Promise<LightMyRequestResponse> {
  return app.inject({
    method: 'POST',
    url: '/auth/login',
    payload: { email, password },
    remoteAddress,
  })
}

/** Registers somebody nobody else knows, and logs in. */
export async function newPerson(app: App): Promise<Person> {
  return logIn(app, await register(app))
}

/** Of {@link PASSWORD}. Two hashes for each person would be most of what some files compute. */
const PASSWORD_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$oaLXmZUGF/XpKW4fzRGJLg$kmAAGMRIc/ZqFGCxGPWc4uCY/LR/DFNWSEwBDdpAB94'

/** Does so without a request and without a record, for tests of what comes after. */
export async function placePerson({ accessTokens, database }: App): Promise<Person> {
  const email = `${randomUUID()}@example.org`
  const made = { email, passwordHash: PASSWORD_HASH, name: 'Amina Bekele', organisation: null }
  const user = (await insertUser(database.writer, made)) as UserProfile
  const use = { network: '127.0.0.1', userAgent: 'lightMyRequest' }
  const credentials = { id: user.id, passwordHash: PASSWORD_HASH }
  const session = await startSession(database.writer, credentials, use, true, async () => {})
  const { id, refreshToken } = session as SignedInSession
  const access_token = accessTokens.sign(user.id, id)
  return {
    access_token,
    token_type: 'Bearer',
    expires_in: accessTokens.lifetime,
    refresh_token: refreshToken,
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
