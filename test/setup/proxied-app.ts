import { loadConfig } from '#src/config.ts'
import type { Database } from '#src/data/database.ts'
import type { App } from '#src/http/app.ts'
import { startTcpProxy, type TcpProxy } from '#test/data/tcp-proxy.ts'
import { startApp } from './app.ts'
import type { Client } from './calls.ts'
import { createTestDatabase } from './database.ts'
import { openFor } from './open-service.ts'

export interface ProxiedApp extends Client {
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
  const { close, ...service } = await startApp(config)
  return {
    ...service,
    databaseUrl: testDatabase.config.DATABASE_URL as string,
    proxy,
    async close() {
      await close()
      await proxy.close()
      await testDatabase.drop()
    },
  }
}

/** Has it run for the tests of a file, or of a `describe`. */
export const openProxiedApp = (settings?: Record<string, string>): ProxiedApp =>
  openFor(() => createProxiedApp(settings))
