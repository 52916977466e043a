import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { openCluster } from '#src/data/client.ts'
import type { App } from '#src/http/app.ts'
import { turnOn } from '#test/accounts/two-factor.ts'
import { createTestApp } from '#test/setup/app.ts'
import { runAgro } from '#test/setup/cli.ts'
import type { TestDatabase } from '#test/setup/database.ts'
import { logIn, newPerson, PASSWORD, type Person, register, tryLogIn } from '#test/setup/people.ts'

let testDatabase: TestDatabase
let person: Person
beforeAll(async () => {
  const service = await createTestApp({ template: 'empty', ownDatabase: true })
  person = await logIn(service.app, await register(service.app))
  // The embedded database belongs to one process at a time.
  await service.app.close()
  await service.database.close()
  await service.cluster.close()
  testDatabase = service.testDatabase
})
afterAll(() => testDatabase.drop())

/** Starts the service again, for some questions. */
async function withService(work: (app: App) => Promise<void>): Promise<void> {
  const cluster = await openCluster(testDatabase.config)
  const database = cluster.connect()
  const app = await buildApp(testDatabase.config, database)
  await work(app).finally(() => app.close())
  await database.close()
  await cluster.close()
}

test('an operator makes an account an admin, and an ordinary one again', async () => {
  const { email } = person
  const agro = (...parameters: string[]) => runAgro(testDatabase, 'users', ...parameters)
  expect(await agro('promote', email.toUpperCase())).toMatchObject({
    code: 0,
    stdout: `${email.toUpperCase()} has the role admin.\n`,
  })
  expect((await agro('list')).stdout).toMatch(
    new RegExp(
      `^EMAIL +CONFIRMED +ROLE +SINCE +NAME\\n${email} +yes +admin +\\d{4}-\\d\\d-\\d\\d +Amina Bekele\\n$`,
    ),
  )
  expect((await agro('demote', email)).stdout).toBe(`${email} has the role user.\n`)
})

test('nobody becomes an admin whose address only has the same key as the one that is named', async () => {
  await withService(async (app) => {
    const payload = { email: 'owner@straße.example.org', password: 'a password of twenty', name: 'A' }
    expect((await app.inject({ method: 'POST', url: '/auth/register', payload })).statusCode).toBe(201)
  })
  const agro = (...parameters: string[]) => runAgro(testDatabase, 'users', ...parameters)
  expect((await agro('promote', 'owner@strasse.example.org')).code).toBe(1)
  expect((await agro('list')).stdout).toMatch(/^owner@straße\.example\.org +\S+ +user /m)
  expect((await agro('delete', 'Owner@straße.example.org', '--yes')).code).toBe(0)
})

test('an operator without a mail server hands out a token: it works once, and ends all sessions', async () => {
  const { code, stdout } = await runAgro(testDatabase, 'users', 'reset', person.email.toUpperCase())
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
  await withService(async (app) => {
    expect((await app.inject({ url: '/user/profile', headers: person.headers })).statusCode).toBe(200)
    const payload = { token, password: 'and is cut before the rain' }
    const reset = () => app.inject({ method: 'POST', url: '/auth/password/reset', payload })
    expect((await reset()).statusCode).toBe(204)
    expect((await reset()).statusCode).toBe(400)
    expect((await app.inject({ url: '/user/profile', headers: person.headers })).statusCode).toBe(401)
    expect((await tryLogIn(app, person.email, payload.password)).statusCode).toBe(200)
  })
})

test('it is a link where the app has a page for it', async () => {
  const environment = {
    ...testDatabase.environment,
    PASSWORD_RESET_URL: 'https://app.example.org/#/reset?t={token}',
  }
  const { stdout } = await runAgro({ ...testDatabase, environment }, 'users', 'reset', person.email)
  expect(stdout).toMatch(/\n\nOpen this page:\n\nhttps:\/\/app\.example\.org\/#\/reset\?t=[\w-]{43}\n$/)
})

test.each(['promote', 'demote', 'reset', 'reset-2fa', 'delete'])(
  'agro users %s refuses an e-mail without an account',
  async (name) => {
    expect(await runAgro(testDatabase, 'users', name, 'nobody@example.org')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'There is no account nobody@example.org; `agro users list` shows them.\n',
    })
  },
)

test('an operator turns off the second factor of whoever has lost it', async () => {
  let email = ''
  await withService(async (app) => {
    const someone = await newPerson(app)
    email = someone.email
    await turnOn(app, someone)
    expect((await tryLogIn(app, email, PASSWORD)).json().code).toBe('TWO_FACTOR_REQUIRED')
  })
  const reset = (of: string) => runAgro(testDatabase, 'users', 'reset-2fa', of)
  expect(await reset(email)).toMatchObject({ code: 0, stdout: `${email} logs in with the password alone.\n` })
  expect(await reset(email)).toMatchObject({ code: 0, stdout: `${email} has no second factor.\n` })
  await withService(async (app) => {
    expect((await tryLogIn(app, email, PASSWORD)).statusCode).toBe(200)
  })
  const { stdout } = await runAgro(testDatabase, 'audit', '--user', email, '--kind', 'two_factor_reset')
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
})

/** Runs a command to which something is piped. */
async function piped(
  input: string,
  ...parameters: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const run = promisify(execFile)(process.execPath, ['bin/run.mjs', 'src/cli/agro.ts', ...parameters], {
    env: { ...process.env, ...testDatabase.environment },
  })
  run.child.stdin?.end(input)
  return run.then(
    (ended) => ({ code: 0, ...ended }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

test('an operator makes an account, whose owner chooses the password with a token', async () => {
  const created = await runAgro(
    testDatabase,
    ...['users', 'create', ' Abebe@example.org', '--name', 'Abebe', '--role', 'admin', '--json'],
  )
  const { user, token, hours } = JSON.parse(created.stdout)
  expect(user).toMatchObject({
    email: 'Abebe@example.org',
    name: 'Abebe',
    role: 'admin',
    email_confirmed: true,
  })
  expect(hours).toBe(24)
  await withService(async (app) => {
    const payload = { token, password: 'and is cut before the rain' }
    expect((await app.inject({ method: 'POST', url: '/auth/password/reset', payload })).statusCode).toBe(204)
    const login = await tryLogIn(app, 'abebe@example.org', payload.password)
    expect(login.json().user).toMatchObject({ id: user.id, role: 'admin' })
  })
  const { stdout } = await runAgro(testDatabase, 'audit', '--user', 'abebe@example.org')
  const kinds = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ')[1])
  expect(kinds).toEqual(['login', 'password_reset', 'password_reset_issued', 'account_made'])
  const again = await runAgro(testDatabase, 'users', 'create', 'ABEBE@example.org', '--name', 'Abebe')
  expect(again).toEqual({
    code: 1,
    stdout: '',
    stderr: 'There is an account ABEBE@example.org already; `agro users list` shows it.\n',
  })
})

test('a password that is piped is kept as it is, without the end of its line', async () => {
  const password = ' teff grows at dusk '
  const created = await piped(
    `${password}\n`,
    'users',
    'create',
    'piped@example.org',
    '--name',
    'P',
    '--password',
  )
  expect(created).toEqual({
    code: 0,
    stdout: 'piped@example.org has an account with the role user.\n',
    stderr: '',
  })
  await withService(async (app) => {
    expect((await tryLogIn(app, 'piped@example.org', password)).statusCode).toBe(200)
  })
})

test('no account is made with a password or an e-mail that a registration refuses', async () => {
  const create = (input: string, email: string) =>
    piped(input, 'users', 'create', email, '--name', 'P', '--password')
  expect(await create('short\n', 'short@example.org')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'password must be at least 10 characters long.\n',
  })
  expect(await create('x'.repeat(5000), 'long@example.org')).toMatchObject({
    code: 1,
    stderr: 'What comes on stdin is too long to be a password.\n',
  })
  expect(await runAgro(testDatabase, 'users', 'create', 'nobody', '--name', 'P')).toMatchObject({
    code: 1,
    stderr: 'email must be an e-mail address.\n',
  })
})

test('an operator deletes an account as its owner would', async () => {
  let deleted: Person | undefined
  await withService(async (app) => {
    deleted = await logIn(app, await register(app))
  })
  const { email, user, headers } = deleted as Person
  const { stdout } = await runAgro(testDatabase, 'users', 'delete', email.toUpperCase(), '--yes', '--json')
  expect(JSON.parse(stdout)).toEqual({
    id: user.id,
    email,
    removed: { accounts: 1, sessions: 1, keys: 0, history: 0, feedback: 0, usage: 0 },
  })
  await withService(async (app) => {
    expect((await app.inject({ url: '/user/profile', headers })).statusCode).toBe(401)
    expect((await tryLogIn(app, email, PASSWORD)).statusCode).toBe(401)
    expect(await register(app, email)).toBe(email)
  })
  const audited = await runAgro(testDatabase, 'audit', '--user', user.id, '--kind', 'account_deleted')
  expect(audited.stdout).toMatch(/account_deleted user=\S+ operator=\S+\n$/)
})
