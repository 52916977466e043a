import type { Config } from '#src/config.ts'
import { openCluster } from '#src/database/client.ts'
import { migrate } from '#src/database/migrate.ts'
import { seedDemo } from '#src/ingest/demo/seed.ts'

/** Databases that test files begin with: with the schema alone, or with the demo in it as well. */
export const TEMPLATES = ['empty', 'demo'] as const
export type Template = (typeof TEMPLATES)[number]

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the embedded templates, or URL of the server that has them and, behind #, their prefix. */
    templates: string
  }
}

export async function prepareTemplate(config: Config, template: Template): Promise<void> {
  const cluster = await openCluster(config)
  const database = cluster.connectForMaintenance()
  await migrate(database.writer)
  if (template === 'demo') await seedDemo(database, () => {})
  await database.close()
  await cluster.close()
}
