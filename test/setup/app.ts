import type { Products } from '#schemas/products/define.ts'
import { buildApp } from '#src/app.ts'
import type { Config } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import type { Cluster, Database } from '#src/data/database.ts'
import type { App } from '#src/http/app.ts'
import { type Client, clientOf } from './calls.ts'
import { openOwnTestCluster, openTestCluster, type TestDatabase } from './database.ts'
import type { Template } from './templates.ts'

/** The service, and what sends requests to it. */
export interface TestApp extends Client {
  app: App
  testDatabase: TestDatabase
  cluster: Cluster
  database: Database
  close(): Promise<void>
}

export interface TestAppOptions {
  template?: Template
  /** Whether it is a database that was just started, and that other processes can open once it is closed. */
  ownDatabase?: boolean
  /** Settings that differ from the defaults. */
  settings?: Record<string, string>
  /** Work on the database before the service opens it. */
  prepare?: (database: Database) => Promise<unknown>
  /** What it gives advice on; what the service does, where it is left out. */
  products?: Products
}

/** The service on a database that there is. */
export async function startApp(config: Config): Promise<Omit<TestApp, 'testDatabase'>> {
  const cluster = await openCluster(config)
  const database = cluster.connect()
  const app = await buildApp(config, database)
  return {
    ...{ app, cluster, database, ...clientOf(app) },
    async close() {
      await app.close()
      await database.close()
      await cluster.close()
    },
  }
}

/** The service on a database of its own. */
export async function createTestApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { template = 'demo', ownDatabase = false, settings, prepare, products } = options
  const open = ownDatabase ? openOwnTestCluster : openTestCluster
  const { testDatabase, cluster } = await open(template, settings)
  if (prepare) {
    const maintenance = cluster.connectForMaintenance()
    await prepare(maintenance).finally(() => maintenance.close())
  }
  const database = cluster.connect()
  const app = await buildApp(testDatabase.config, database, products)
  return {
    ...{ app, testDatabase, cluster, database, ...clientOf(app) },
    async close() {
      await app.close()
      await database.close()
      await cluster.close()
      await testDatabase.drop()
    },
  }
}
