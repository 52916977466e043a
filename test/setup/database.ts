import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { access, cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { type Config, loadConfig } from '#src/config.ts'
import { embeddedCluster, openCluster } from '#src/data/client.ts'
import type { Cluster, Database } from '#src/data/database.ts'
import { doublingPauses, readErrorCode, retry } from '#src/lib/promises.ts'
import { giveBackInstance, takeInstance } from './embedded-instances.ts'
import { databaseUrl } from './server.ts'
import { FAILED, type Template } from './templates.ts'

export interface TestDatabase {
  kind: 'embedded' | 'server'
  /** What names the database to the service and to the command line. */
  environment: Record<string, string>
  config: Config
  /** Drops the database. Whoever uses it must have closed it. */
  drop(): Promise<void>
}

const kind = process.env.TEST_DATABASE_KIND as TestDatabase['kind']

/**
 * Makes a database of its own, of the kind that the project is about, for whoever opens it, any process.
 *
 * @param template `new` has nothing in it, not even the schema
 */
export async function createTestDatabase(
  template: Template | 'new',
  settings: Record<string, string> = {},
): Promise<TestDatabase> {
  const copy = kind === 'embedded' ? await copyFolder(template) : await copyDatabase(template)
  return testDatabaseOf(copy, settings)
}

function testDatabaseOf({ variable, drop }: Copy, settings: Record<string, string>): TestDatabase {
  const environment = {
    ...variable,
    DEMO_DATA: 'false',
    LOG_LEVEL: 'silent',
    // On a busy machine a statement may wait for longer than a client should; only what hangs takes as long.
    STATEMENT_TIMEOUT_MS: '120000',
    POLYGON_TIMEOUT_MS: '120000',
    ...settings,
  }
  return { kind, environment, config: loadConfig(environment), drop }
}

/** Where a database is, and that it can be connected to. */
export interface TestCluster {
  testDatabase: TestDatabase
  cluster: Cluster
}

/** Makes a database and opens it; other processes can open it once it is closed here. */
export async function openOwnTestCluster(
  template: Template | 'new',
  settings?: Record<string, string>,
): Promise<TestCluster> {
  const testDatabase = await createTestDatabase(template, settings)
  return { testDatabase, cluster: await openCluster(testDatabase.config) }
}

/**
 * Makes a database that this process has open. The embedded one is used again by others once it is
 * dropped, because its start takes longer than most tests; no other process can open it.
 */
export async function openTestCluster(
  template: Template,
  settings?: Record<string, string>,
): Promise<TestCluster> {
  if (kind === 'server') return openOwnTestCluster(template, settings)
  const instance = await takeInstance(await whenMade('demo'), template)
  const drop = () => giveBackInstance(instance)
  const testDatabase = testDatabaseOf({ variable: { DATA_DIR: instance.folder }, drop }, settings ?? {})
  const cluster = embeddedCluster(instance.cluster, testDatabase.config)
  return { testDatabase, cluster: { ...cluster, close: async () => {} } }
}

/** A database that a test file has to itself, and has open. */
export interface OpenTestDatabase {
  database: Database
  /** Closes and drops the database. */
  close(): Promise<void>
}

/** Makes a database and opens it as an operator's commands do: statements may take as long as they need. */
export async function openTestDatabase(
  template: Template | 'new',
  settings?: Record<string, string>,
): Promise<OpenTestDatabase> {
  const open =
    template === 'new' ? openOwnTestCluster(template, settings) : openTestCluster(template, settings)
  const { testDatabase, cluster } = await open
  const database = cluster.connectForMaintenance()
  return {
    database,
    async close() {
      await database.close()
      await cluster.close()
      await testDatabase.drop()
    },
  }
}

/** Works on a database as an operator's commands do, and closes it. */
export async function withDatabase<Result>(
  { config }: Pick<TestDatabase, 'config'>,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const cluster = await openCluster(config)
  const database = cluster.connectForMaintenance()
  return work(database).finally(async () => {
    await database.close()
    await cluster.close()
  })
}

/** Less than a hook may take: on a busy machine they are made in a minute or two. */
const UNTIL_MADE = Array<number>(2200).fill(100)

/** The path of a template, once it is made; see {@link Templates}. */
async function whenMade(template: Template): Promise<string> {
  const { folder } = inject('templates')
  const look = async () => {
    if (existsSync(join(folder, FAILED))) throw new Error(await readFile(join(folder, FAILED), 'utf8'))
    await access(join(folder, template))
  }
  await retry(look, UNTIL_MADE, (error) => readErrorCode(error) === 'ENOENT')
  return join(folder, template)
}

interface Copy {
  variable: Record<string, string>
  drop: () => Promise<void>
}

async function copyFolder(template: Template | 'new'): Promise<Copy> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-test-'))
  if (template !== 'new') await cp(await whenMade(template), folder, { recursive: true })
  return { variable: { DATA_DIR: folder }, drop: () => rm(folder, { recursive: true }) }
}

let copies = 0

const PAUSES = doublingPauses(100, 60_000)

/** PostgreSQL waits five seconds for its own workers that look at the template: on a busy machine they take longer. */
const isBeingVacuumed = (error: unknown) => (error as { code?: string }).code === '55006'

/** The URL of the server that the tests use. */
export function testServer(): string {
  return inject('templates').server as string
}

let administration: pg.Pool | undefined

/** By one connection, which ends with this process; where it was lost, by another one. */
async function administer(statement: string): Promise<void> {
  administration ??= new pg.Pool({
    ...{ connectionString: testServer(), max: 1 },
    ...{ idleTimeoutMillis: 0, allowExitOnIdle: true },
  }).on('error', () => {})
  await administration.query(statement)
}

async function copyDatabase(template: Template | 'new'): Promise<Copy> {
  const name = `agro_test_${process.pid}_${Date.now()}_${copies++}`
  // Copied by files: through the log, which is PostgreSQL's own choice, each page costs two to three times as much.
  const like =
    template === 'new'
      ? ''
      : `template ${await readFile(await whenMade(template), 'utf8')} strategy file_copy`
  await retry(() => administer(`create database ${name} ${like}`), PAUSES, isBeingVacuumed)
  return {
    variable: { DATABASE_URL: databaseUrl(testServer(), name), JWT_SECRET: randomBytes(32).toString('hex') },
    drop: () => administer(`drop database ${name} with (force)`),
  }
}
