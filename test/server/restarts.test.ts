// Runs on either database: killed processes leave the folder of the embedded one in test/data/embedded-folder.test.ts.
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { listReleases } from '#src/catalog/release-queries.ts'
import { createTestDatabase, type TestDatabase, withDatabase } from '#test/setup/database.ts'
import { addressOf, startService } from '#test/setup/service-process.ts'

const releasesOf = (testDatabase: TestDatabase) =>
  withDatabase(testDatabase, async ({ writer }) => {
    const releases = await listReleases(writer)
    const { rows } = await sql<{ outlines: number }>`
      select count(*) as outlines from admin_area where level = 0`.execute(writer)
    return [releases.map(({ code, publishedAt }) => [code, publishedAt !== null]), rows]
  })

test('a service completes the demo that a killed start began', async () => {
  const testDatabase = await createTestDatabase('empty', { DEMO_DATA: 'true' })
  onTestFinished(() => testDatabase.drop())
  const killed = startService(testDatabase.environment)
  await killed.prints(/seeding synthetic demo data: release 2 of 10/)
  killed.signal('SIGKILL')
  expect(await killed.ended).toBe('SIGKILL')

  const completing = startService(testDatabase.environment)
  const [, missing] = await completing.prints(/seeding synthetic demo data: release 1 of (\d+)\n/)
  expect(Number(missing)).toBeLessThanOrEqual(8)
  const address = await addressOf(completing)
  await completing.prints(/Synthetic demo data are published: made by a formula, not advice\./)
  expect((await fetch(`${address}/health/ready`)).status).toBe(200)
  completing.signal('SIGTERM')
  expect(await completing.ended).toBe(0)

  const [codes, outlines] = (await releasesOf(testDatabase)) as [[string, boolean][], unknown]
  expect(codes).toHaveLength(10)
  expect(codes.every(([code, published]) => published && /^synthetic-.*-v\d$/.test(code))).toBe(true)
  expect(new Set(codes.map(([code]) => code.replace(/-v\d$/, ''))).size).toBe(10)
  expect(outlines).toEqual([{ outlines: 4 }])
})
