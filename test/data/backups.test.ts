import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { POSTGRES_PROGRAMS } from '#bench/cluster.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { databaseUrl, executeOnServer } from '#test/setup/server.ts'
import { answersOf, logInTwice, type Usage, useService, withService } from '#test/setup/used-service.ts'

// Runs on a server alone: the embedded database is a folder, which is copied.

const POINTS = 20

/** Skipped where Debian's programs of PostgreSQL are missing. */
describe.skipIf(!POSTGRES_PROGRAMS)('a dump', () => {
  const source = ownDatabase('demo')
  let restored: string
  let usage: Usage
  beforeAll(async () => {
    usage = await withService(source.config, useService)
    restored = databaseUrl(sourceUrl(), `${new URL(sourceUrl()).pathname.slice(1)}_restored`)
    await executeOnServer(sourceUrl(), `create database ${new URL(restored).pathname.slice(1)}`)
  })
  afterAll(async () => {
    await executeOnServer(sourceUrl(), `drop database ${new URL(restored).pathname.slice(1)} with (force)`)
  })

  const sourceUrl = () => source.config.DATABASE_URL as string
  const restoredConfig = () => ({ ...source.config, DATABASE_URL: restored })

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
      await withService(source.config, (app) => answersOf(app, usage, POINTS)),
      await withService(restoredConfig(), (app) => answersOf(app, usage, POINTS)),
    ]
    expect(Object.keys(expected).length).toBeGreaterThan(POINTS)
    expect(found).toEqual(expected)
    expect(await withService(restoredConfig(), (app) => logInTwice(app, usage))).toEqual([401, 200, 200])
  })
})

/** The command of the document that begins like this. */
function documented(program: string): string {
  const document = readFileSync('docs/operations.md', 'utf8')
  return new RegExp(`^\`\`\`\n(${program} .*)\n\`\`\`$`, 'm').exec(document)?.[1] as string
}
