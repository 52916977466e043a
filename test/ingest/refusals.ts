import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect } from 'vitest'
import type { Database } from '#src/data/database.ts'
import { createTestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { withoutReaders } from '#test/setup/readers.ts'
import { fixture, ingestManifest, manifestText, writeManifest } from './fixtures.ts'
import { type TiffOptions, writeTiff } from './tiff.ts'

/** Ingests from a folder into a database in which a release is published already, which has to stay. */
export type RefusingIngest = Awaited<ReturnType<typeof createRefusingIngest>>

/** Publishes a release, so that what is refused has something to damage. The core reads GeoTIFFs alone. */
export async function createRefusingIngest() {
  const restoreReaders = withoutReaders()
  const folder = await newFolder()
  const service = await createTestApp({
    template: 'empty',
    prepare: async (database) =>
      ingestManifest(
        database,
        await writeManifest(folder, manifestText([{ file: fixture('type-float32.tif') }])),
      ),
  })
  const { database } = service

  /** The paths of files in the message are shortened to their names. */
  async function refusalOf(manifest: string): Promise<string> {
    const before = await stored(database)
    const path = await writeManifest(folder, manifest)
    const error = await ingestManifest(database, path).then(
      () => undefined,
      (error: Error) => error,
    )
    expect(await stored(database)).toEqual(before)
    expect(error?.name).toBe('OperatorError')
    return (error as Error).message.replaceAll(`${folder}/`, '').replaceAll(fixture(''), '')
  }

  return {
    folder,
    database,
    refusalOf,
    /** Why a manifest of one layer is refused. */
    refusalOfFile: (file: string, settings: Record<string, unknown> = {}) =>
      refusalOf(manifestText([{ file, ...settings }])),
    /** Makes a small raster of ones; answers with its name. */
    async writeRaster(name: string, options: Partial<TiffOptions>) {
      const row = () => new Float32Array(20).fill(1)
      await writeTiff(join(folder, name), { width: 20, height: 20, row, ...options })
      return name
    },
    /** Writes texts as Latin-1; answers with the name. */
    async write(name: string, content: string | Buffer) {
      await writeFile(join(folder, name), content, 'latin1')
      return name
    },
    remove: (name: string) => rm(join(folder, name)),
    async close() {
      restoreReaders()
      await service.close()
    },
  }
}

/** What is refused, each with its sentence, for a file that has them. */
export async function refusalsOf<Case>(
  cases: Record<string, Case>,
  refuse: (refused: Case) => Promise<string>,
): Promise<string> {
  const lines: string[] = []
  for (const [what, refused] of Object.entries(cases)) lines.push(`${what}: ${await refuse(refused)}\n`)
  return lines.join('').replaceAll(fixture('../'), 'FIXTURES/')
}

async function stored(database: Database): Promise<unknown> {
  const { rows } = await sql`
    select
      (select count(*) from release) as releases,
      (select count(*) from publication) as publications,
      (select count(*) from coverage) as coverages,
      (select count(*) from layer) as layers,
      (select count(*) from raster_tile) as tiles`.execute(database.writer)
  return rows[0]
}
