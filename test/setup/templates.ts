import '#src/extensions/index.ts'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
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
    templates: Templates
  }
}

/** Where templates are made while tests without a database run. */
export interface Templates {
  /** Each one is there under its name once it is made: as a folder, or on a server as a file with the name of its database. */
  folder: string
  server?: string
}

const UNFINISHED = 'unfinished'

/** The file that says why a template could not be made. */
export const FAILED = 'failed'

/**
 * Has templates made, and does not wait for them.
 *
 * @param make makes a template at a path
 * @returns what removes them
 */
export async function startMaking(
  project: TestProject,
  server: string | undefined,
  make: (template: Template, path: string, folder: string) => Promise<void>,
): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-templates-'))
  project.provide('templates', { folder, ...(server !== undefined && { server }) })
  async function makeAll(): Promise<void> {
    for (const template of TEMPLATES) {
      await make(template, join(folder, UNFINISHED), folder)
      await rename(join(folder, UNFINISHED), join(folder, template))
    }
  }
  const made = makeAll().catch(async (error) => {
    process.exitCode = 1
    console.error(error)
    await writeFile(join(folder, FAILED), `templates were not made: ${error.stack}`)
  })
  return () => made.then(() => rm(folder, { recursive: true }))
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
