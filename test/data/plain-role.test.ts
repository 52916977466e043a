import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import type { Cluster, Database } from '#src/data/database.ts'
import { migrate } from '#src/data/migrate.ts'
import { refuseMissingRights } from '#src/data/rights.ts'
import { fixture, kindFixture, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { call } from '#test/setup/calls.ts'
import { runAgro } from '#test/setup/cli.ts'
import { type TestDatabase, testServer, withDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { newPerson } from '#test/setup/people.ts'
import { databaseUrl, executeOnServer } from '#test/setup/server.ts'
import { startService } from '#test/setup/service-process.ts'
import { withService } from '#test/setup/used-service.ts'

// Runs on a server alone: the embedded database has one role.

const MISSING = spawnSync('psql', ['--version']).error !== undefined

describe.skipIf(MISSING)('the role that docker/database.sh makes', () => {
  const name = `agro_test_role_${process.pid}_${randomBytes(4).toString('hex')}`
  /** Quotes and what else a shell or SQL could stumble over. */
  const password = `a'b"c$d\\e ${name}`
  let server: URL
  let testDatabase: TestDatabase
  let cluster: Cluster
  let database: Database

  beforeAll(async () => {
    server = new URL(testServer())
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
        SERVICE_USER: `${name}_service`,
        SERVICE_PASSWORD: password,
      },
    })
    testDatabase = databaseAs(name)
    cluster = await openCluster(testDatabase.config)
    database = cluster.connectForMaintenance()
    await migrate(database.writer)
  })

  function databaseAs(role: string, settings: Record<string, string> = {}): TestDatabase {
    const url = new URL(databaseUrl(server.href, name))
    url.username = role
    url.password = encodeURIComponent(password)
    const environment = {
      DATABASE_URL: url.href,
      DEMO_DATA: 'false',
      LOG_LEVEL: 'silent',
      JWT_SECRET: password.repeat(2),
      ...settings,
    }
    return { kind: 'server', environment, config: loadConfig(environment), drop: async () => {} }
  }

  afterAll(async () => {
    await database.close()
    await cluster.close()
    await executeOnServer(server.href, `drop database ${name} with (force)`)
    await executeOnServer(server.href, `drop role ${name}, ${name}_service`)
  })

  test('is no superuser, and may make neither databases nor roles', async () => {
    const { rows } = await sql`
      select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls
      from pg_roles where rolname = current_user`.execute(database.writer)
    expect(Object.values(rows[0] ?? {})).toEqual(Array(5).fill(false))
    await expect(sql`copy layer to program 'id'`.execute(database.writer)).rejects.toThrow(
      /must be superuser|permission denied/,
    )
    await expect(sql`select pg_read_file('/etc/passwd')`.execute(database.writer)).rejects.toThrow(
      /permission denied/,
    )
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

  describe('beside a role of the service’s own', () => {
    const role = `${name}_service`
    const asService = () => databaseAs(role, { MIGRATE_ON_START: 'false' })

    test('without its rights is told so in a sentence: by the service, and by commands', async () => {
      const REFUSAL = `The role ${role} has not the rights for it: it may not use the schema. The owner of the schema changes it by \`agro migrate\`, and gives a service its rights by \`agro grants ${role}\`.\n`
      const started = startService(asService().environment)
      expect(await started.ended).toBe(1)
      expect([started.stdout(), started.stderr()]).toEqual(['', `agro: ${REFUSAL}`])
      const listed = await runAgro(asService(), 'releases', 'list')
      expect([listed.code, listed.stdout, listed.stderr]).toEqual([1, '', REFUSAL])
    })

    test('is granted them by the owner, to roles that there are, and by nobody else', async () => {
      const granted = await runAgro(testDatabase, 'grants', role)
      expect([granted.code, granted.stdout, granted.stderr]).toEqual([
        0,
        `${role} has the rights that the service needs.\n`,
        '',
      ])
      const unknown = await runAgro(testDatabase, 'grants', 'no "one"')
      expect(unknown.stderr).toBe(
        'There is no role no "one": `create role` makes it, docker/database.sh shows how.\n',
      )
      const owner = await runAgro(testDatabase, 'grants', name)
      expect(owner.stderr).toBe(
        `${name} owns the schema, and may do all: grant to a role of the service's own.\n`,
      )
      const byService = await runAgro(asService(), 'grants', role)
      expect([byService.code, byService.stdout]).toEqual([1, ''])
    })

    test('does all that the service does, loading included', async () => {
      const manifest = await writeManifest(
        await newFolder(),
        manifestText([{ file: fixture('type-float32.tif') }], { allow: ['extent'] }),
      )
      const ingested = await runAgro(asService(), 'ingest', '--force', manifest)
      expect([ingested.code, ingested.stderr.replaceAll(/(loading|allowed): .*\n/g, '')]).toEqual([0, ''])
      const areas = await boundaryFile([feature({ code: 'ET02', name: 'South' }, rectangle(37, 7, 38, 8))])
      const loaded = await runAgro(asService(), 'boundaries', areas, '--country', 'eth', '--level', '1')
      expect([loaded.code, loaded.stderr]).toEqual([0, ''])

      const { rows } = await sql<{ lng: number; lat: number }>`
        select (west + east) / 2 as lng, (south + north) / 2 as lat from coverage limit 1`.execute(
        database.writer,
      )
      await withService(asService().config, async (app) => {
        const by = await newPerson(app)
        const asked = await call(app, 'POST /advisory/yield/point', { by, payload: rows[0] ?? {} })
        expect(asked).toMatchObject({ status: 200, body: { history_id: expect.any(String) } })
        expect((await call(app, 'DELETE /user/profile', { by })).status).toBe(200)
      })
    })

    test('exports all that the owner does', async () => {
      const folder = await newFolder()
      const byOwner = await runAgro(testDatabase, 'export', join(folder, 'owner'), '--json')
      const byService = await runAgro(asService(), 'export', join(folder, 'service'), '--json')
      expect([byOwner.code, byService.code]).toEqual([0, 0])
      const { tables } = JSON.parse(byService.stdout)
      expect(tables).toMatchObject({ release: 1, admin_area: 1 })
      expect(tables).toEqual(JSON.parse(byOwner.stdout).tables)
    })

    test('both add CRSs to those of PostGIS, change none, and are told how to get the right', async () => {
      const superuser = databaseUrl(server.href, name)
      const ingest = async (as: TestDatabase, raster: string) => {
        const layer = { file: kindFixture(`${raster}.tif`), nodata: 'none' }
        const manifest = await writeManifest(
          await newFolder(),
          manifestText([layer], { allow: ['extent', 'range'] }),
        )
        const { code, stderr } = await runAgro(as, 'ingest', '--force', '--dry-run', manifest)
        return { code, stderr }
      }
      expect(await ingest(asService(), 'crs-homolosine')).toMatchObject({ code: 0 })
      expect(await ingest(testDatabase, 'crs-mollweide')).toMatchObject({ code: 0 })
      for (const statement of ['update spatial_ref_sys set srtext = null', 'delete from spatial_ref_sys']) {
        await expect(sql.raw(statement).execute(database.writer)).rejects.toMatchObject({ code: '42501' })
      }

      await executeOnServer(superuser, `revoke insert on spatial_ref_sys from ${role}`)
      const { code, stderr } = await ingest(asService(), 'crs-own-cea')
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(
          /^\S+crs-own-cea\.tif has a CRS that PostGIS does not know, and the role \S+ may not add it\. The owner of spatial_ref_sys allows it by: grant insert on spatial_ref_sys to \S+; or adds it by: insert into spatial_ref_sys \(srid, srtext, proj4text\) values \(9\d{5}, '', '\+proj=cea [^']+'\);\n$/,
        ),
      ])
      await executeOnServer(superuser, /grant insert [^;]+/.exec(stderr)?.[0] as string)
      expect(await ingest(asService(), 'crs-own-cea')).toMatchObject({ code: 0 })
    })

    test('changes no table and no audit record, but has old ones removed', async () => {
      const refused = [
        'create table more (x integer)',
        'alter table release add column more text',
        'drop table release',
        'truncate release',
        'delete from audit_record',
        'update audit_record set kind = null',
        'delete from applied_script',
      ]
      await withDatabase(asService(), async ({ pool }) => {
        for (const statement of refused) {
          await expect(pool.query(statement), statement).rejects.toMatchObject({ code: '42501' })
        }
        await pool.query(`insert into audit_record (kind, at) values ('login', now() - interval '2 years')`)
        const { rows } = await pool.query('select delete_old_audit_records(12, 1000) as deleted')
        expect(rows).toEqual([{ deleted: 1 }])
      })
    })

    test('may use what later migrations make', async () => {
      const { pool } = database
      await pool.query('create table later (id bigint generated always as identity, x integer)')
      await withDatabase(asService(), async (own) => {
        const lacks = (right: string) =>
          expect(refuseMissingRights(own.writer)).rejects.toThrow(
            `The role ${role} has not the rights for it: it may not ${right}.`,
          )
        await refuseMissingRights(own.writer)
        await own.pool.query('insert into later (x) values (1)')
        await pool.query(`revoke insert on later from ${role}`)
        await lacks('insert rows of later')
        await pool.query('drop table later')
        const months = 'function create_history_months(timestamptz)'
        await pool.query(`revoke execute on ${months} from ${role}`)
        await lacks('execute create_history_months')
        await pool.query(`grant execute on ${months} to ${role}`)
      })
    })
  })
})
