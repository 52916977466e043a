// Runs on a server alone.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { serverCluster } from '#src/database/client.ts'
import { createTestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'

const MISSING = spawnSync('pgbouncer', ['--version']).error !== undefined

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

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

describe.skipIf(MISSING)('behind PgBouncer', () => {
  test('a statement that takes too long is ended at the server, and the next are answered', async () => {
    const testDatabase = await createTestDatabase('demo')
    const config = { ...testDatabase.config, STATEMENT_TIMEOUT_MS: 2500, POLYGON_TIMEOUT_MS: 5000 }
    const direct = new pg.Client(config.DATABASE_URL)
    await direct.connect()
    const database = serverCluster(await startBouncer(config.DATABASE_URL as string), config).connect()
    const app = await buildApp(config, database)
    const { headers } = await newPerson(app)
    const point = () => app.inject({ method: 'POST', url: '/advisory/yield/point?lat=9.5&lng=38.5', headers })
    expect((await point()).statusCode).toBe(200)

    await direct.query('begin; lock table history_item in access exclusive mode')
    const list = await app.inject({ url: '/history/my', headers })
    expect(list.statusCode).toBe(503)
    const waiting = async () =>
      (
        await direct.query(
          `select query from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
      ).rows
    await vi.waitFor(async () => expect(await waiting()).toEqual([]), { timeout: 10_000 })
    await direct.query('commit')
    expect((await app.inject({ url: '/history/my', headers })).json().items).toHaveLength(1)

    await app.close()
    await database.close()
    await direct.end()
    await testDatabase.drop()
  })
})
