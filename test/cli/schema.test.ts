import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { runAgro } from '#test/setup/cli.ts'
import { openOwnTestCluster, type TestCluster } from '#test/setup/database.ts'
import { startService } from '#test/setup/service-process.ts'

describe('a schema that is older than this version', () => {
  let opened: TestCluster
  let database: Database

  beforeAll(async () => {
    opened = await openOwnTestCluster('empty')
    database = opened.cluster.connectForMaintenance()
    await sql`drop function tiles_of`.execute(database.writer)
    await sql`delete from applied_script where name = 'tiles_of.sql'`.execute(database.writer)
  })

  afterAll(async () => {
    await database.close()
    await opened.cluster.close()
    await opened.testDatabase.drop()
  })

  const REFUSAL =
    'The schema of the database is older than this version, which needs tiles_of.sql: `agro migrate` brings it up to date.\n'

  test('is left as it is by commands that look, which say what helps', async () => {
    for (const command of [
      'releases list',
      'users list',
      'countries list',
      'crops list',
      'audit',
      'grants nobody',
    ]) {
      const { code, stdout, stderr } = await runAgro(opened.testDatabase, ...command.split(' '))
      expect([command, code, stdout, stderr]).toEqual([command, 1, '', REFUSAL])
    }
  })

  test('is left as it is by a service with MIGRATE_ON_START=false, which does not start', async () => {
    const service = startService({ ...opened.testDatabase.environment, MIGRATE_ON_START: 'false' })
    expect(await service.ended).toBe(1)
    expect(service.stdout()).toBe('')
    expect(service.stderr()).toBe(`agro: ${REFUSAL}`)
  })

  test('and by commands that change something with MIGRATE_ON_START=false', async () => {
    const { environment } = opened.testDatabase
    const testDatabase = {
      ...opened.testDatabase,
      environment: { ...environment, MIGRATE_ON_START: 'false' },
    }
    const refused = await runAgro(testDatabase, 'users', 'promote', 'amina@example.org')
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([1, '', REFUSAL])
    const migrated = await runAgro(testDatabase, 'migrate')
    expect([migrated.code, migrated.stdout]).toEqual([0, 'applied tiles_of.sql\n'])
    const promoted = await runAgro(testDatabase, 'users', 'promote', 'amina@example.org')
    expect(promoted.stderr).toBe('There is no account amina@example.org; `agro users list` shows them.\n')
  })
})
