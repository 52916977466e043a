import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '#src/http/app.ts'
import { createTestApp } from '#test/setup/app.ts'
import { type Caller, call } from '#test/setup/calls.ts'
import { runAgro } from '#test/setup/cli.ts'
import type { TestDatabase } from '#test/setup/database.ts'
import { logIn, newPerson, PASSWORD, type Person, register, tryLogIn } from '#test/setup/people.ts'
import { transcribe } from '#test/setup/transcript.ts'
import { turnOn } from '#test/setup/two-factor.ts'
import { withService } from '#test/setup/used-service.ts'

const NEW_PASSWORD = 'and is cut before the rain'

let testDatabase: TestDatabase
let person: Person
let gone: Person
beforeAll(async () => {
  const service = await createTestApp({ template: 'empty', ownDatabase: true })
  person = await logIn(service.app, await register(service.app))
  await tryLogIn(service.app, person.email, 'a wrong password', '192.0.2.7')
  gone = await logIn(service.app, await register(service.app))
  await service.delete('/user/profile', { by: gone })
  // The embedded database belongs to one process at a time.
  await service.app.close()
  await service.database.close()
  await service.cluster.close()
  testDatabase = service.testDatabase
})
afterAll(() => testDatabase.drop())

test('accounts get roles, tokens and records as the transcript has it', async () => {
  const said = await transcribe(
    testDatabase,
    `
    users promote PERSON
    users list
    users demote PERSON
    users promote nobody@example.org
    users demote nobody@example.org
    users reset nobody@example.org
    users reset-2fa nobody@example.org
    users delete nobody@example.org
    users delete PERSON
    users create nobody --name P
    audit --user PERSON
    audit --user GONE
    audit --user gone@example.org
    audit --kind account_made
    audit --since 2999-01-01
    audit --kind account_deleted --since 2026-01-01T00:00:00+03:00
    `,
    { PERSON: person.email, GONE: gone.user.id },
  )
  await expect(said.replaceAll(/(request|session)=\S+/g, '$1=ID')).toMatchFileSnapshot(
    'transcripts/users.txt',
  )
})

test('a program reads what happened as one list in JSON, also where nothing did', async () => {
  const { stdout } = await agro('audit', '--user', person.email.toUpperCase(), '--kind', 'login', '--json')
  const records = JSON.parse(stdout)
  expect(records).toHaveLength(1)
  expect(JSON.parse((await agro('audit', '--json')).stdout).length).toBeGreaterThan(3)
  expect(JSON.parse((await agro('audit', '--since', '2999-01-01', '--json')).stdout)).toEqual([])
  expect(records[0]).toEqual({
    id: expect.any(Number),
    at: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    kind: 'login',
    userId: person.user.id,
    email: person.email,
    sessionId: expect.any(String),
    keyId: null,
    network: '127.0.0.1',
    requestId: expect.any(String),
    operator: null,
    detail: null,
  })
})

test('nobody becomes an admin whose address only has the same key as the one that is named', async () => {
  await agro('users', 'create', 'owner@straße.example.org', '--name', 'A')
  expect((await agro('users', 'promote', 'owner@strasse.example.org')).code).toBe(1)
  expect((await agro('users', 'list')).stdout).toMatch(/^owner@straße\.example\.org +\S+ +user /m)
  expect((await agro('users', 'delete', 'Owner@straße.example.org', '--yes')).code).toBe(0)
})

test('an operator without a mail server hands out a token: it works once, and ends all sessions', async () => {
  const { code, stdout } = await agro('users', 'reset', person.email.toUpperCase())
  const [, token] = /"token": "([\w-]{43})"/.exec(stdout) as RegExpExecArray
  expect([code, stdout]).toEqual([
    0,
    `For ${person.email}, once, within 24 hours. All its sessions end then.

Send this to POST /auth/password/reset, as JSON:

{
  "token": "${token}",
  "password": "the new password"
}
`,
  ])
  await withService(testDatabase.config, async (app) => {
    expect(await profile(app, person)).toBe(200)
    const payload = { token, password: NEW_PASSWORD }
    expect(await reset(app, payload)).toBe(204)
    expect(await reset(app, payload)).toBe(400)
    expect(await profile(app, person)).toBe(401)
    expect((await tryLogIn(app, person.email, payload.password)).status).toBe(200)
  })
})

test('a token for a new password is a link where the app has a page for it', async () => {
  const PASSWORD_RESET_URL = 'https://app.example.org/#/reset?t={token}'
  const environment = { ...testDatabase.environment, PASSWORD_RESET_URL }
  const { stdout } = await runAgro({ environment }, 'users', 'reset', person.email)
  expect(stdout).toMatch(/\n\nOpen this page:\n\nhttps:\/\/app\.example\.org\/#\/reset\?t=[\w-]{43}\n$/)
})

test('an operator turns off the second factor of whoever has lost it', async () => {
  const { email } = await withService(testDatabase.config, async (app) => {
    const someone = await newPerson(app)
    await turnOn(app, someone)
    expect((await tryLogIn(app, someone.email, PASSWORD)).body.code).toBe('TWO_FACTOR_REQUIRED')
    return someone
  })
  const reset = async () => (await agro('users', 'reset-2fa', email)).stdout
  expect(await reset()).toBe(`${email} logs in with the password alone.\n`)
  expect(await reset()).toBe(`${email} has no second factor.\n`)
  await withService(testDatabase.config, async (app) => {
    expect((await tryLogIn(app, email, PASSWORD)).status).toBe(200)
  })
  const { stdout } = await agro('audit', '--user', email, '--kind', 'two_factor_reset')
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
})

async function createPiped(input: string, email: string): Promise<unknown[]> {
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') as PropertyDescriptor
  Object.defineProperty(process, 'stdin', { configurable: true, value: Readable.from([Buffer.from(input)]) })
  const piped = agro('users', 'create', email, '--name', 'P', '--password')
  const { code, stdout, stderr } = await piped.finally(() => Object.defineProperty(process, 'stdin', stdin))
  return [code, stdout, stderr]
}

test('an operator makes an account, whose owner chooses the password with a token', async () => {
  const parameters = ['users', 'create', ' Abebe@example.org', '--name', 'Abebe', '--role', 'admin', '--json']
  const { user, token, hours } = JSON.parse((await agro(...parameters)).stdout)
  expect(user).toMatchObject({
    email: 'Abebe@example.org',
    name: 'Abebe',
    role: 'admin',
    email_confirmed: true,
  })
  expect(hours).toBe(24)
  await withService(testDatabase.config, async (app) => {
    const payload = { token, password: NEW_PASSWORD }
    expect(await reset(app, payload)).toBe(204)
    const login = await tryLogIn(app, 'abebe@example.org', payload.password)
    expect(login.body.user).toMatchObject({ id: user.id, role: 'admin' })
  })
  const { stdout } = await agro('audit', '--user', 'abebe@example.org')
  const kinds = [...stdout.matchAll(/^\S+ (\S+)/gm)].map(([, kind]) => kind)
  expect(kinds).toEqual(['login', 'password_reset', 'password_reset_issued', 'account_made'])
  const again = await agro('users', 'create', 'ABEBE@example.org', '--name', 'Abebe')
  expect(again.stderr).toBe('There is an account ABEBE@example.org already; `agro users list` shows it.\n')
})

test('a password that is piped is kept as it is, without the end of its line, and refused as by a registration', async () => {
  const password = ' teff grows at dusk '
  const made = 'piped@example.org has an account with the role user.\n'
  expect(await createPiped(`${password}\n`, 'piped@example.org')).toEqual([0, made, ''])
  await withService(testDatabase.config, async (app) => {
    expect((await tryLogIn(app, 'piped@example.org', password)).status).toBe(200)
  })
  const short = 'password must be at least 10 characters long.\n'
  expect(await createPiped('short\n', 'short@example.org')).toEqual([1, '', short])
  const long = 'What comes on stdin is too long to be a password.\n'
  expect(await createPiped('x'.repeat(5000), 'long@example.org')).toEqual([1, '', long])
})

test('an operator deletes an account as its owner would', async () => {
  const { email, user, headers } = await withService(testDatabase.config, newPerson)
  const { stdout } = await agro('users', 'delete', email.toUpperCase(), '--yes', '--json')
  expect(JSON.parse(stdout)).toEqual({
    id: user.id,
    email,
    removed: { accounts: 1, sessions: 1, keys: 0, history: 0, feedback: 0, usage: 0 },
  })
  await withService(testDatabase.config, async (app) => {
    expect(await profile(app, { headers })).toBe(401)
    expect((await tryLogIn(app, email, PASSWORD)).status).toBe(401)
    expect(await register(app, email)).toBe(email)
  })
  const audited = await agro('audit', '--user', user.id, '--kind', 'account_deleted')
  expect(audited.stdout).toMatch(/account_deleted user=\S+ operator=\S+\n$/)
})

const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

const profile = async (app: App, by: Caller) => (await call(app, 'GET /user/profile', { by })).status

const reset = async (app: App, payload: object) =>
  (await call(app, 'POST /auth/password/reset', { payload })).status
