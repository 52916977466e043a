import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { type Cluster, type Database, openCluster } from '#src/database/client.ts'
import { migrate } from '#src/database/migrate.ts'
import { fixture, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { runAgroProcess } from '#test/setup/cli.ts'
import type { TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { databaseUrl, executeOnServer } from '#test/setup/server.ts'

/** The embedded database has one role; and the script is one of psql. */
const CANNOT = process.env.TEST_DATABASE_KIND === 'embedded' || spawnSync('psql', ['--version']).error

describe.skipIf(CANNOT)('the role that docker/database.sh makes', () => {
  const name = `agro_test_role_${process.pid}_${randomBytes(4).toString('hex')}`
  /** Quotes and what else a shell or SQL could stumble over. */
  const password = `a'b"c$d\\e ${name}`
  let server: URL
  let testDatabase: TestDatabase
  let cluster: Cluster
  let database: Database

  beforeAll(async () => {
    server = new URL((inject('templates').split('#') as [string])[0])
    await executeOnServer(server.href, `create database ${name}`)
    const passwordFile = join(await newFolder(), 'database_password')
    await writeFile(passwordFile, `${password}\n`)
    await promisify(execFile)('sh', ['docker/database.sh'], {
      env: {
        ...process.env,
        PGHOST: server.hostname,
        PGPORT: server.port,
        PGPASSWORD: decodeURIComponent(server.password),
        POSTGRES_USER: server.username,
        POSTGRES_DB: name,
        DATABASE_USER: name,
        DATABASE_PASSWORD_FILE: passwordFile,
      },
    })
    const url = new URL(databaseUrl(server.href, name))
    url.username = name
    url.password = encodeURIComponent(password)
    const environment = {
      DATABASE_URL: url.href,
      DEMO_DATA: 'false',
      LOG_LEVEL: 'silent',
      JWT_SECRET: password.repeat(2),
    }
    testDatabase = { kind: 'server', environment, config: loadConfig(environment), drop: async () => {} }
    cluster = await openCluster(testDatabase.config)
    database = cluster.connectForMaintenance()
    await migrate(database.writer)
  })

  afterAll(async () => {
    await database.close()
    await cluster.close()
    await executeOnServer(server.href, `drop database ${name} with (force)`)
    await executeOnServer(server.href, `drop role ${name}`)
  })

  test('is no superuser, and may make neither databases nor roles', async () => {
    const { rows } = await sql`
      select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls
      from pg_roles where rolname = current_user`.execute(database.writer)
    expect(rows).toEqual([
      {
        rolsuper: false,
        rolcreatedb: false,
        rolcreaterole: false,
        rolreplication: false,
        rolbypassrls: false,
      },
    ])
    await expect(sql`copy layer to program 'id'`.execute(database.writer)).rejects.toThrow(
      /must be superuser|permission denied/,
    )
    await expect(sql`select pg_read_file('/etc/passwd')`.execute(database.writer)).rejects.toThrow(
      /permission denied/,
    )
  })

  test('loads releases and boundaries, and the service answers with it and has accounts', async () => {
    const manifest = await writeManifest(
      await newFolder(),
      manifestText([{ file: fixture('type-float32.tif') }], { country_code: 'eth' }),
    )
    const ingested = await runAgroProcess(testDatabase, 'ingest', manifest)
    expect([ingested.code, ingested.stdout]).toEqual([
      0,
      expect.stringMatching(/^yield-eth-wheat-2025-01-v1 is published: \d+ tiles in [\d.]+ s\.\n$/),
    ])
    const areas = await boundaryFile([feature({ code: 'ET01', name: 'North' }, rectangle(37, 8, 38, 9))])
    const loaded = await runAgroProcess(testDatabase, 'boundaries', areas, '--country', 'eth', '--level', '1')
    expect([loaded.code, loaded.stderr]).toEqual([0, ''])

    const app = await buildApp(testDatabase.config, database)
    const catalog = await app.inject('/catalog')
    expect(JSON.stringify(catalog.json())).toContain('yield-eth-wheat-2025-01-v1')
    const registered = await app.inject({
      method: 'POST',
      url: '/auth/register',
      payload: { email: 'amina@example.org', password: 'teff grows at dawn', name: 'Amina' },
    })
    expect(registered.statusCode).toBe(201)
    const ready = await app.inject('/health/ready')
    expect(ready.statusCode).toBe(200)
    await app.close()
  })

  test('is let into its database alone, and nobody else is', async () => {
    const { rows } = await sql`
      select
        has_database_privilege(current_user, current_database(), 'connect') as own,
        has_database_privilege(current_user, current_database(), 'create') as creates,
        has_database_privilege('public', current_database(), 'connect') as others,
        has_schema_privilege('public', 'public', 'usage') as schema`.execute(database.writer)
    expect(rows).toEqual([{ own: true, creates: false, others: false, schema: false }])
  })
})
