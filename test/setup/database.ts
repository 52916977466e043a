import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { type Config, loadConfig } from '#src/config.ts'
import { type Database, openCluster } from '#src/database/client.ts'
import { databaseUrl, executeOnServer } from './server.ts'
import type { Template } from './templates.ts'

export interface TestDatabase {
  kind: 'embedded' | 'server'
  /** What names the database to the service and to the command line. */
  environment: Record<string, string>
  config: Config
  /** Drops the database. Whoever uses it must have closed it. */
  drop(): Promise<void>
}

/** Makes a database of its own for a test file, of the kind that the project is about. */
export async function createTestDatabase(
  template: Template,
  settings: Record<string, string> = {},
): Promise<TestDatabase> {
  const kind = process.env.TEST_DATABASE_KIND as TestDatabase['kind']
  const { variable, drop } = kind === 'embedded' ? await copyFolder(template) : await copyDatabase(template)
  const environment = { ...variable, DEMO_DATA: 'false', LOG_LEVEL: 'silent', ...settings }
  return { kind, environment, config: loadConfig(environment), drop }
}

/** A database that a test file has to itself, and has open. */
export interface OpenTestDatabase {
  database: Database
  /** Closes and drops the database. */
  close(): Promise<void>
}

/** Makes a database and opens it as an operator's commands do: statements may take as long as they need. */
export async function openTestDatabase(template: Template): Promise<OpenTestDatabase> {
  const testDatabase = await createTestDatabase(template)
  const cluster = await openCluster(testDatabase.config)
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

interface Copy {
  variable: Record<string, string>
  drop: () => Promise<void>
}

async function copyFolder(template: Template): Promise<Copy> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-test-'))
  await cp(join(inject('templates'), template), folder, { recursive: true })
  return { variable: { DATA_DIR: folder }, drop: () => rm(folder, { recursive: true }) }
}

let copies = 0

/** The URL of the server that the tests use. */
export function testServer(): string {
  return inject('templates').split('#')[0] as string
}

async function copyDatabase(template: Template): Promise<Copy> {
  const server = testServer()
  const prefix = inject('templates').split('#')[1]
  const name = `agro_test_${process.pid}_${Date.now()}_${copies++}`
  await executeOnServer(server, `create database ${name} template ${prefix}_${template}`)
  return {
    variable: { DATABASE_URL: databaseUrl(server, name), JWT_SECRET: randomBytes(32).toString('hex') },
    drop: () => executeOnServer(server, `drop database ${name} with (force)`),
  }
}
