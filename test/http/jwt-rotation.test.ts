import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import type { Database } from '#src/data/client.ts'
import type { App } from '#src/http/app.ts'
import { openTestCluster, type TestCluster } from '#test/setup/database.ts'
import { logIn, register } from '#test/setup/people.ts'

const [OLD, NEW] = ['the old secret, of more than 32 bytes', 'the new secret, of more than 32 bytes']

/** The steps of docs/operations.md, each as a process is started with it. */
const STEPS = [
  { JWT_SECRET: OLD },
  { JWT_SECRET: OLD, JWT_SECRET_PREVIOUS: NEW },
  { JWT_SECRET: NEW, JWT_SECRET_PREVIOUS: OLD },
  { JWT_SECRET: NEW },
]

/** Two processes need a server. */
describe('a change of JWT_SECRET', () => {
  let opened: TestCluster
  let database: Database
  beforeAll(async () => {
    opened = await openTestCluster('empty')
    database = opened.cluster.connect()
    // Each process would have its own; here they come one after the other on one.
    database.statements.setMaxListeners(0)
  })
  afterAll(async () => {
    await database.close()
    await opened.cluster.close()
    await opened.testDatabase.drop()
  })

  const start = (step: object) => buildApp({ ...opened.testDatabase.config, ...step }, database)

  async function statusOf(app: App, token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` }
    return (await app.inject({ url: '/user/profile', headers })).statusCode
  }

  test('refuses no token of either process while both go from step to step', async () => {
    let processes = [await start(STEPS[0] as object), await start(STEPS[0] as object)]
    const email = await register(processes[0] as App)
    for (const [index, step] of STEPS.entries()) {
      for (const restarted of [0, 1]) {
        await processes[restarted]?.close()
        processes = processes.with(restarted, await start(step))
        for (const signer of processes) {
          const { access_token: token } = await logIn(signer, email)
          const statuses = await Promise.all(processes.map((app) => statusOf(app, token)))
          expect({ index, restarted, statuses }).toEqual({ index, restarted, statuses: [200, 200] })
        }
      }
    }
    for (const app of processes) await app.close()
  })

  test('refuses tokens where a process has not been told of the new one first', async () => {
    const [before, after] = [await start(STEPS[0] as object), await start(STEPS[2] as object)]
    const { access_token: token } = await logIn(after, await register(before))
    expect(await statusOf(before, token)).toBe(401)
    await before.close()
    await after.close()
  })
})
