import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Database } from '#src/data/database.ts'

const MODULE = resolve(import.meta.dirname, '../../src/extensions/tile-files/move.ts')

/** Whether the extension is there: tests of others on both stores do without it where it is deleted. */
export const hasTileFiles = existsSync(MODULE)

/** Moves a release to another store, as `agro releases move` does. */
export async function moveRelease(database: Database, code: string, to: 'postgis' | 'files'): Promise<void> {
  const module = await import(MODULE)
  await module.moveRelease(database, code, to)
}
