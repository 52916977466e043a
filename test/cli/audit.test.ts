import { userInfo } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp } from '#test/setup/app.ts'
import { runAgro } from '#test/setup/cli.ts'
import type { TestDatabase } from '#test/setup/database.ts'
import { logIn, type Person, register, tryLogIn } from '#test/setup/people.ts'

const ME = userInfo().username

let testDatabase: TestDatabase
let person: Person
let gone: Person
beforeAll(async () => {
  const service = await createTestApp({ template: 'empty', ownDatabase: true })
  person = await logIn(service.app, await register(service.app))
  await tryLogIn(service.app, person.email, 'a wrong password', '192.0.2.7')
  gone = await logIn(service.app, await register(service.app))
  await service.app.inject({ method: 'DELETE', url: '/user/profile', headers: gone.headers })
  // The embedded database belongs to one process at a time.
  await service.app.close()
  await service.database.close()
  await service.cluster.close()
  testDatabase = service.testDatabase
  await agro('users', 'promote', person.email)
})
afterAll(() => testDatabase.drop())

async function agro(...parameters: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAgro(testDatabase, ...parameters)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

const list = async (...options: string[]) => (await agro('audit', ...options)).trimEnd().split('\n')

const TIME = String.raw`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`

test('an operator reads what happened, the newest first, in a line each', async () => {
  const lines = await list('--user', person.email.toUpperCase())
  const by = `user=${person.email}`
  const wanted = [
    `role_changed ${by} operator=${ME} role=admin`,
    `login_failed ${by} network=192\\.0\\.2\\.7 request=\\S+ reason="wrong password"`,
    `login ${by} session=\\S+ network=127\\.0\\.0\\.1 request=\\S+`,
    `account_made ${by} network=127\\.0\\.0\\.1 request=\\S+`,
  ]
  expect(lines).toHaveLength(wanted.length)
  for (const [index, line] of lines.entries()) expect(line).toMatch(new RegExp(`^${TIME} ${wanted[index]}$`))
})

test('a program reads the same as JSON, a line each', async () => {
  const [first] = await list('--user', person.email, '--json')
  expect(JSON.parse(first as string)).toEqual({
    id: expect.any(Number),
    at: expect.stringMatching(TIME),
    kind: 'role_changed',
    userId: person.user.id,
    email: person.email,
    sessionId: null,
    keyId: null,
    network: null,
    requestId: null,
    operator: ME,
    detail: { role: 'admin' },
  })
})

test('of a deleted account there are the records of its id, without its name', async () => {
  const lines = await list('--user', gone.user.id)
  expect(lines.map((line) => line.split(' ').slice(1, 3))).toEqual([
    ['account_deleted', `user=${gone.user.id}`],
    ['login', `user=${gone.user.id}`],
    ['account_made', `user=${gone.user.id}`],
  ])
  expect((await runAgro(testDatabase, 'audit', '--user', gone.email)).stderr).toBe(
    `There is no account ${gone.email}; \`agro users list\` shows them.\n`,
  )
})

test('records are told apart by kind and time', async () => {
  const kinds = (lines: string[]) => lines.map((line) => line.split(' ')[1])
  expect(kinds(await list('--kind', 'account_made'))).toEqual(['account_made', 'account_made'])
  expect(await agro('audit', '--since', '2999-01-01')).toBe('')
  expect(kinds(await list('--since', '2026-01-01T00:00:00+03:00'))).toHaveLength(7)
})

test('a token for a new password and a country leave their records, with who made them', async () => {
  await agro('users', 'reset', person.email)
  await agro('countries', 'add', 'tza', 'Tanzania')
  const [country, token] = await list()
  expect(country).toMatch(
    new RegExp(`^${TIME} reference_changed operator=${ME} change="tza is added as Tanzania."$`),
  )
  expect(token).toMatch(new RegExp(`^${TIME} password_reset_issued user=${person.email} operator=${ME}$`))
})
