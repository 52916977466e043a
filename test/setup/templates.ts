import '#src/extensions/index.ts'
import type { Config } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import type { Database } from '#src/data/database.ts'
import { migrate } from '#src/data/migrate.ts'
import { createMonthsAhead } from '#src/history/queries.ts'
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

/**
 * Fills a database with what the template has in it.
 *
 * @param keep called with the database when it is like each template on the way
 */
export async function prepareTemplate(
  config: Config,
  template: Template,
  keep: (database: Database, content: Template) => Promise<void> = async () => {},
): Promise<void> {
  const cluster = await openCluster(config)
  const database = cluster.connectForMaintenance()
  await migrate(database.writer)
  // As a service does that listens. The first item would make its month otherwise, and leave another schema.
  await createMonthsAhead(database.writer)
  await keep(database, 'empty')
  if (template === 'demo') {
    await seedDemo(database, () => {})
    await keep(database, 'demo')
  }
  await database.close()
  await cluster.close()
}
