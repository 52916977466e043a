import { readFileSync } from 'node:fs'
import { appendFile, cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type OwnServers, openOwnServers, POSTGRES_PROGRAMS } from '#bench/cluster.ts'
import { freePort } from '#bench/processes.ts'
import { loadConfig } from '#src/config.ts'
import type { App } from '#src/http/app.ts'
import { runAgro } from '#test/setup/cli.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { logIn, register } from '#test/setup/people.ts'
import { databaseUrl, executeOnServer } from '#test/setup/server.ts'
import { answersOf, logInTwice, useService, withService } from '#test/setup/used-service.ts'

const POINTS = 20
const document = readFileSync('docs/operations.md', 'utf8')

/** The lines of the document's settings, and its command that lays a backup down, for scripts in the folder. */
const [, SETTINGS = ''] = /```conf\n([\s\S]*?)```/.exec(document) ?? []
const [, RESTORE = ''] = /^runuser -u postgres -- (sh .*\/restore\.sh) /m.exec(document) ?? []
const SCRIPTS = '/opt/agro-advisory/ops/backup'

// Runs on a server alone: the embedded database is a folder, which is copied.

/** Skipped where Debian's programs of PostgreSQL are missing, which the run says. */
describe.skipIf(!POSTGRES_PROGRAMS).sequential('a server that is archived as the document says', () => {
  let servers: OwnServers
  let port: number
  let environment: Record<string, string>
  const inFolder = (path: string) => join(servers.folder, path)
  const documented = (text: string) => text.replaceAll(SCRIPTS, inFolder('scripts'))
  const shell = (command: string) => servers.run('sh', '-c', command)

  beforeAll(async () => {
    port = await freePort()
    servers = await openOwnServers((folder) => ({
      BACKUPS: join(folder, 'backups'),
      PGHOST: '127.0.0.1',
      PGPORT: String(port),
    }))
    await cp('ops/backup', inFolder('scripts'), { recursive: true })
    await shell('mkdir -p backups/base backups/wal')
    await servers.initialise('first')
    await appendFile(inFolder('first/postgresql.conf'), documented(SETTINGS))
    await servers.start('first', port)
    const server = `postgres://postgres@127.0.0.1:${port}/postgres`
    await executeOnServer(server, 'create database agro')
    environment = {
      DATABASE_URL: databaseUrl(server, 'agro'),
      JWT_SECRET: 'of this test alone '.repeat(2),
      LOG_LEVEL: 'silent',
    }
    await agro('demo')
  })
  afterAll(() => servers?.close())

  const agro = (...parameters: string[]) => runAgro({ environment }, ...parameters)
  const service = <Result>(work: (app: App) => Promise<Result>) =>
    withService(loadConfig({ ...environment, STATEMENT_TIMEOUT_MS: '120000' }), work)
  const backUp = (keepDays: number) => shell(`KEEP_DAYS=${keepDays} sh scripts/base-backup.sh`)

  async function firstOf(statement: string): Promise<unknown> {
    const client = new pg.Client(environment.DATABASE_URL)
    await client.connect()
    const { rows } = await client.query({ text: statement, rowMode: 'array' }).finally(() => client.end())
    return rows[0]?.[0]
  }

  async function start(data: string): Promise<void> {
    await servers.start(data, port)
    const recovers = () => firstOf('select pg_is_in_recovery()')
    await vi.waitFor(async () => expect(await recovers()).toBe(false), PATIENCE)
  }

  test('is put back to the moment before releases and accounts were deleted', async () => {
    await backUp(14)
    const usage = await service(useService)
    const moment = await firstOf('select now()::text')
    const before = await service((app) => answersOf(app, usage, POINTS))

    const { stdout } = await agro('releases', 'list', '--json')
    const [release] = JSON.parse(stdout).map(({ code }: { code: string }) => code)
    expect((await agro('releases', 'delete', release, '--force', '--yes')).code).toBe(0)
    expect((await agro('users', 'delete', usage.person.email, '--yes')).code).toBe(0)
    expect(await service((app) => logInTwice(app, usage))).toEqual([401, 401, 401])

    await servers.stop('first', 'fast')
    await shell(`${documented(RESTORE)} second '${moment}'`)
    await start('second')
    const after = await service((app) => answersOf(app, usage, POINTS))
    expect(Object.keys(after).length).toBeGreaterThan(POINTS)
    expect(after).toEqual(before)
    expect(await service((app) => logInTwice(app, usage))).toEqual([401, 200, 200])
  })

  test('loses nothing in a crash where its disk can be read yet, though it was restored itself', async () => {
    await backUp(14)
    const email = await service(register)
    await servers.stop('second', 'immediate')
    await shell(`${documented(RESTORE)} third`)
    await shell('cp --no-clobber second/pg_wal/0* third/pg_wal/')
    await start('third')
    expect(await service((app) => logIn(app, email))).toMatchObject({ email })
  })

  test('keeps the backup, and the log, that the oldest moment to be restored begins with', async () => {
    const backups = () => readdir(inFolder('backups/base'))
    const positions = async () =>
      (await readdir(inFolder('backups/wal')))
        .filter((name) => /^[0-9A-F]{24}\.gz$/.test(name))
        .map((name) => name.slice(8, 24))
        .sort()
    const daysAgo = (days: number) =>
      new Date(Date.now() - days * 86_400_000).toISOString().replaceAll(':', '')

    const [first, second] = await backups()
    const [fourDaysAgo, threeDaysAgo] = [daysAgo(4), daysAgo(3)]
    await shell(`cd backups/base && mv ${first} ${fourDaysAgo} && mv ${second} ${threeDaysAgo}`)
    const contained = await shell(`tar -tzf backups/base/${threeDaysAgo}/pg_wal.tar.gz`)
    const begins = /^[0-9A-F]{8}([0-9A-F]{16})$/m.exec(contained)?.[1]
    expect((await positions())[0]).not.toBe(begins)

    await backUp(2)
    expect(await backups()).toEqual([threeDaysAgo, expect.stringMatching(/^\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z$/)])
    expect((await positions())[0]).toBe(begins)
  })

  test.each([
    ['first', '', 'first is not empty.'],
    ['new', 'yesteryear', 'yesteryear is not a time, such as 2026-11-22 10:15:00 UTC.'],
    ['new', '2020-01-01', 'backups/base has no backup that had ended before 2020-01-01T000000.000Z.'],
  ])('is not restored into %s up to "%s"', async (data, moment, refusal) => {
    const restoring = shell(`BACKUPS=backups sh scripts/restore.sh ${data} '${moment}'`)
    await expect(restoring).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(`restore.sh: ${refusal}\n$`),
    })
  })
})
