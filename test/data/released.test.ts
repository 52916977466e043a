import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { tryStatements } from '#test/setup/prepared-statements.ts'
import { describeVersion, readStatements, releases } from '#test/setup/released.ts'

// Runs on a server alone: an embedded database has one process, whose version migrates it.

const VERSIONS = Object.keys(releases)

test.each(VERSIONS)(
  'version %s has the section of the CHANGELOG and the migrations that it was released with',
  async (version) => {
    const release = releases[version]
    expect(await describeVersion(version, Object.keys(release?.migrations ?? {}))).toEqual(release)
  },
)

/**
 * Versions that docs/versioning.md promises to go on; one with a `-- breaks: older versions` after it goes from here. Migration
 * 57 has taken 1.2.0 away: the next release is the first again.
 */
const GOES_ON = VERSIONS.filter((version) => readStatements(version))

describe.skipIf(GOES_ON.length === 0)('on the schema of this version', () => {
  let database: TestDatabase
  let pool: pg.Pool
  beforeAll(async () => {
    database = await createTestDatabase('empty')
    pool = new pg.Pool({ connectionString: database.config.DATABASE_URL, max: 1 })
  })
  afterAll(async () => {
    await pool.end()
    await database.drop()
  })

  async function listFailing(statements: string[]): Promise<string[]> {
    const taken = await tryStatements(pool, statements)
    return [...taken].flatMap(([text, one]) => ('error' in one ? [`${one.error}: ${text}`] : []))
  }

  test.each(GOES_ON)('each statement that version %s sends can be prepared', async (version) => {
    const statements = readStatements(version) ?? []
    expect(statements.length).toBeGreaterThan(100)
    expect(await listFailing(statements)).toEqual([])
  })

  test.each(GOES_ON)('a column that goes fails those of version %s that use it', async (version) => {
    await pool.query('alter table release rename column licence to terms')
    const failing = await listFailing(readStatements(version) ?? [])
    await pool.query('alter table release rename column terms to licence')
    expect(failing.length).toBeGreaterThan(0)
    for (const sentence of failing) expect(sentence).toMatch(/^column .*licence.* does not exist: /)
  })
})
