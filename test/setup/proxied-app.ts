import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { type Database, openCluster } from '#src/data/client.ts'
import type { App } from '#src/http/app.ts'
import { startTcpProxy, type TcpProxy } from '#test/data/tcp-proxy.ts'
import { createTestDatabase } from './database.ts'

export interface ProxiedApp {
  app: App
  database: Database
  /** The database without the proxy. */
  databaseUrl: string
  /** The way to the database server. */
  proxy: TcpProxy
  close(): Promise<void>
}

/** The service with the demo, on a database server that can go away and come back. */
export async function createProxiedApp(settings: Record<string, string> = {}): Promise<ProxiedApp> {
  const testDatabase = await createTestDatabase('demo')
  const proxy = await startTcpProxy(testDatabase.config.DATABASE_URL as string)
  const config = loadConfig({ ...testDatabase.environment, DATABASE_URL: proxy.url, ...settings })
  const cluster = await openCluster(config)
  const database = cluster.connect()
  const app = await buildApp(config, database)
  return {
    app,
    database,
    databaseUrl: testDatabase.config.DATABASE_URL as string,
    proxy,
    async close() {
      await app.close()
      await database.close()
      await cluster.close()
      await proxy.close()
      await testDatabase.drop()
    },
  }
}
