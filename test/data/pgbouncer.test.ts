import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort } from '#bench/processes.ts'
import { buildApp } from '#src/app.ts'
import { serverCluster } from '#src/data/client.ts'
import { writeField } from '#test/ingest/checks/rasters.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { call } from '#test/setup/calls.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'

// Runs on a server alone.

const MISSING = spawnSync('pgbouncer', ['--version']).error !== undefined

describe.skipIf(MISSING)('behind PgBouncer', () => {
  test('a statement that takes too long is ended at the server, and the next are answered', async () => {
    const testDatabase = await createTestDatabase('demo')
    const config = { ...testDatabase.config, STATEMENT_TIMEOUT_MS: 2500, POLYGON_TIMEOUT_MS: 5000 }
    const direct = new pg.Client(config.DATABASE_URL)
    await direct.connect()
    const database = serverCluster(await startBouncer(config.DATABASE_URL as string), config).connect()
    const app = await buildApp(config, database)
    const by = await newPerson(app)
    const ask = (request: string, payload?: object) => call(app, request, { by, payload })
    const answers = (request: string, payload?: object) =>
      expect.poll(async () => (await ask(request, payload)).status, PATIENCE).toBe(200)
    await answers('POST /advisory/yield/point?lat=9.5&lng=38.5')
    // Its tiles are copied.
    await answers('POST /advisory/yield', { geometry: rectangle(38.5, 9.5, 38.52, 9.52) })

    await direct.query('begin; lock table history_item in access exclusive mode')
    expect((await ask('GET /history/my')).status).toBe(503)
    const waiting = async () =>
      (
        await direct.query(
          `select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).rows
    await vi.waitFor(async () => expect(await waiting()).toEqual([]), PATIENCE)
    await direct.query('commit')
    await answers('GET /history/my')

    await app.close()
    await database.close()
    await direct.end()
    await testDatabase.drop()
  })

  test('a load is refused where statements are ended, and goes past it by DATABASE_DIRECT_URL', async () => {
    const testDatabase = await createTestDatabase('empty')
    onTestFinished(() => testDatabase.drop())
    const direct = testDatabase.config.DATABASE_URL as string
    const environment = { ...testDatabase.environment, DATABASE_URL: await startBouncer(direct) }
    const folder = await newFolder()
    await writeField(folder, 'field.tif')
    const manifest = await writeManifest(
      folder,
      manifestText([{ file: 'field.tif' }], { forecast_period: '2026-01' }),
    )
    expect(await runAgro({ environment }, 'ingest', manifest)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'The database of DATABASE_URL is behind PgBouncer, and statements end after 2500ms there, which loads need longer than: set DATABASE_DIRECT_URL to the server itself.\n',
    })
    const past = { environment: { ...environment, DATABASE_DIRECT_URL: direct } }
    expect(await runAgro(past, 'ingest', manifest)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^yield-eth-wheat-2026-01-v1 is published: 80 tiles /),
    })
  })
})

test('what takes its time is not ended by the timeouts of a database', async () => {
  const testDatabase = await createTestDatabase('empty')
  onTestFinished(() => testDatabase.drop())
  const url = testDatabase.config.DATABASE_URL as string
  const client = new pg.Client(url)
  await client.connect()
  const names = ['statement_timeout', 'idle_in_transaction_session_timeout']
  for (const name of names) {
    await client.query(`alter database ${new URL(url).pathname.slice(1)} set ${name} = '1 h'`)
  }
  await client.end()
  const { pool, close } = serverCluster(url, testDatabase.config).connectForMaintenance()
  onTestFinished(close)
  for (const name of names) expect((await pool.query(`show ${name}`)).rows).toEqual([{ [name]: '0' }])
})

/** Starts PgBouncer as the document configures it, but for where it is and who may come. */
async function startBouncer(databaseUrl: string): Promise<string> {
  const { hostname, port, pathname, username } = new URL(databaseUrl)
  const folder = await newFolder()
  const ownPort = await freePort()
  const [, documented = ''] = /```ini\n([\s\S]*?)```/.exec(readFileSync('docs/operations.md', 'utf8')) ?? []
  const configuration = documented
    .replace(
      'agro = host=127.0.0.1 port=5432',
      `${pathname.slice(1)} = host=${hostname} port=${port} user=${username}`,
    )
    .replace('listen_port = 6432', `listen_port = ${ownPort}\nunix_socket_dir =`)
    .replace('scram-sha-256', 'any')
    .replace('/etc/pgbouncer/userlist.txt', join(folder, 'users'))
  writeFileSync(join(folder, 'pgbouncer.ini'), configuration)
  writeFileSync(join(folder, 'users'), `"${username}" ""\n`)
  const command = ['pgbouncer', join(folder, 'pgbouncer.ini')]
  if (process.getuid?.() === 0) {
    // It does not run as root.
    chmodSync(folder, 0o755)
    for (const name of ['pgbouncer.ini', 'users']) chmodSync(join(folder, name), 0o644)
    command.unshift('setpriv', '--reuid=nobody', '--clear-groups')
  }
  const child = spawn(command[0] as string, command.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => void child.kill())
  let log = ''
  child.stderr.on('data', (text) => {
    log += text
  })
  await vi.waitFor(() => expect(log).toContain('process up'), PATIENCE)
  return databaseUrl.replace(`${hostname}:${port}`, `127.0.0.1:${ownPort}`)
}
