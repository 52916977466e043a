// Runs on a server alone: the embedded database is a folder, which is copied.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { openCluster } from '#src/database/client.ts'
import type { App } from '#src/http/app.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { POSTGRES_PROGRAMS } from '#test/setup/replicated-server.ts'
import { databaseUrl, executeOnServer } from '#test/setup/server.ts'
import { answersOf, logInTwice, type Usage, useService } from '#test/setup/used-service.ts'

const POINTS = 1000

/** The command of the document that begins like this. */
function documented(program: string): string {
  const document = readFileSync('docs/operations.md', 'utf8')
  return new RegExp(`^\`\`\`\n(${program} .*)\n\`\`\`$`, 'm').exec(document)?.[1] as string
}

/** Skipped where Debian's programs of PostgreSQL are missing. */
describe.skipIf(!POSTGRES_PROGRAMS)('a dump', () => {
  let source: TestDatabase
  let restored: string
  let usage: Usage
  beforeAll(async () => {
    source = await createTestDatabase('demo')
    usage = await withApp(sourceUrl(), useService)
    restored = databaseUrl(sourceUrl(), `${new URL(sourceUrl()).pathname.slice(1)}_restored`)
    await executeOnServer(sourceUrl(), `create database ${new URL(restored).pathname.slice(1)}`)
  })
  afterAll(async () => {
    await executeOnServer(sourceUrl(), `drop database ${new URL(restored).pathname.slice(1)} with (force)`)
    await source.drop()
  })

  const sourceUrl = () => source.config.DATABASE_URL as string

  async function withApp<Result>(url: string, work: (app: App) => Promise<Result>): Promise<Result> {
    const config = { ...source.config, DATABASE_URL: url }
    const cluster = await openCluster(config)
    const database = cluster.connect()
    const app = await buildApp(config, database)
    try {
      return await work(app)
    } finally {
      await app.close()
      await database.close()
      await cluster.close()
    }
  }

  test('made and restored as the document says is answered from as before, byte for byte', async () => {
    const environment = {
      ...process.env,
      PATH: `${POSTGRES_PROGRAMS}:${process.env.PATH}`,
      DATABASE_URL: sourceUrl(),
      NEW_DATABASE_URL: restored,
    }
    const cwd = await newFolder()
    for (const program of ['pg_dump', 'pg_restore']) {
      await promisify(execFile)('sh', ['-c', documented(program)], { cwd, env: environment })
    }
    const [expected, found] = [
      await withApp(sourceUrl(), (app) => answersOf(app, usage, POINTS)),
      await withApp(restored, (app) => answersOf(app, usage, POINTS)),
    ]
    expect(Object.keys(expected).length).toBeGreaterThan(POINTS)
    expect(found).toEqual(expected)
    expect(await withApp(restored, (app) => logInTwice(app, usage))).toEqual([401, 200, 200])
  })
})
