import { afterAll, beforeAll, expect } from 'vitest'
import { buildApp } from '#src/app.ts'
import { openCluster } from '#src/database/client.ts'
import type { App } from '#src/http/app.ts'
import { turnOn } from '#test/domains/auth/two-factor.ts'
import { createTestApp } from '#test/setup/app.ts'
import { runAgro, testOfCommands } from '#test/setup/cli.ts'
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

testOfCommands(
  'an operator without a mail server hands out a token: it works once, and ends all sessions',
  async () => {
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
  },
)

testOfCommands('it is a link where the app has a page for it', async () => {
  const environment = {
    ...testDatabase.environment,
    PASSWORD_RESET_URL: 'https://app.example.org/#/reset?t={token}',
  }
  const { stdout } = await runAgro({ ...testDatabase, environment }, 'users', 'reset', person.email)
  expect(stdout).toMatch(/\n\nOpen this page:\n\nhttps:\/\/app\.example\.org\/#\/reset\?t=[\w-]{43}\n$/)
})

testOfCommands('nobody gets one who has no account', async () => {
  expect(await runAgro(testDatabase, 'users', 'reset', 'nobody@example.org')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'There is no account nobody@example.org; `agro users list` shows them.\n',
  })
})

testOfCommands('an operator turns off the second factor of whoever has lost it', async () => {
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
  expect((await reset('nobody@example.org')).code).toBe(1)
  await withService(async (app) => {
    expect((await tryLogIn(app, email, PASSWORD)).statusCode).toBe(200)
  })
  const { stdout } = await runAgro(testDatabase, 'audit', '--user', email, '--kind', 'two_factor_reset')
  expect(stdout.trimEnd().split('\n')).toHaveLength(1)
})
