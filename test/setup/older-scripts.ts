import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { REFERENCE_FILE } from '#src/data/reference.ts'
import { newFolder } from './folders.ts'

/** Functions that came with migration 41. */
export const SINCE_0041 = ['history_item_id', 'view_advisory_history']

/** A copy of the scripts as far as a version had them. @param later functions that came after it */
export async function scriptsUpTo(last: number, later: string[]): Promise<URL> {
  const folder = await newFolder()
  await cp('sql', folder, { recursive: true })
  await cp('test/fixtures/functions-before-0041', join(folder, 'functions'), { recursive: true })
  if (last < 20)
    await cp('test/fixtures/functions-before-0020', join(folder, 'functions'), { recursive: true })
  for (const name of await readdir(join(folder, 'migrations'))) {
    if (Number.parseInt(name, 10) > last) await rm(join(folder, 'migrations', name))
  }
  for (const name of later) await rm(join(folder, 'functions', `${name}.sql`))
  const reference = join(folder, REFERENCE_FILE)
  await writeFile(reference, (await readFile(reference, 'utf8')).replace(/^ +plausible:.*\n/gm, ''))
  return pathToFileURL(`${folder}/`)
}
