import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import type { OpenTestDatabase } from './database.ts'
import { newFolder } from './folders.ts'
import { databaseUrl, executeOnServer } from './server.ts'

/** A database with nothing in it, not even the schema. */
export async function openNewDatabase(): Promise<OpenTestDatabase> {
  const { environment, drop } =
    process.env.TEST_DATABASE_KIND === 'embedded' ? await newDataFolder() : await newServerDatabase()
  const cluster = await openCluster(loadConfig(environment))
  const database = cluster.connectForMaintenance()
  return {
    database,
    async close() {
      await database.close()
      await cluster.close()
      await drop()
    },
  }
}

async function newDataFolder() {
  return { environment: { DATA_DIR: await newFolder() }, drop: async () => {} }
}

async function newServerDatabase() {
  const [server] = inject('templates').split('#') as [string]
  const name = `agro_test_new_${process.pid}_${randomBytes(4).toString('hex')}`
  await executeOnServer(server, `create database ${name}`)
  return {
    environment: { DATABASE_URL: databaseUrl(server, name) },
    drop: () => executeOnServer(server, `drop database ${name} with (force)`),
  }
}
