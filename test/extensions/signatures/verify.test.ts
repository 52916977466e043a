// Runs on either database: a command reads a statement and files.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { EXAMPLE } from './made.ts'

const testDatabase = ownDatabase('empty')

const CODE = 'synthetic-fertilizer-rwa-potato-2026-08-v1'
const NORMAL = 'examples/rwanda/urea-normal.tif'
const BELOW = 'examples/rwanda/urea-below-normal.tif'

test('each file is the same, differs, is missing or of no release, and one byte decides', async () => {
  const unknown = await runAgro(testDatabase, 'releases', 'verify', CODE, NORMAL)
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    `There is no release ${CODE}; \`agro releases list\` shows them.\n`,
  ])
  expect((await runAgro(testDatabase, 'ingest', EXAMPLE)).code).toBe(0)
  const same = { code: 0, states: [NORMAL, BELOW].map((file) => [file.split('/').at(-1), 'same']) }
  expect(await verify(NORMAL, BELOW)).toMatchObject(same)

  const folder = await newFolder()
  const renamed = join(folder, 'renamed.tif')
  await copyFile(BELOW, renamed)
  expect((await verify(NORMAL, renamed)).states).toEqual([
    ['urea-normal.tif', 'same'],
    ['renamed.tif', 'same'],
  ])

  await mkdir(join(folder, 'changed'))
  const changed = join(folder, 'changed/urea-normal.tif')
  const bytes = await readFile(NORMAL)
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1
  await writeFile(changed, bytes)
  expect(await verify(changed, 'package.json')).toMatchObject({
    code: 1,
    states: [
      ['urea-normal.tif', 'differs'],
      ['package.json', 'not of the release'],
      ['urea-below-normal.tif', 'missing'],
    ],
    told: {
      error: `These are not the files of ${CODE}: urea-normal.tif differs, package.json is not of the release, urea-below-normal.tif is missing.`,
    },
  })
  expect((await verify(NORMAL, join(folder, 'none.tif'))).told.error).toMatch(/none\.tif does not exist\.$/)
  expect((await verify(folder)).told.error).toBe(`${folder} is a folder: name the files in it.`)
})

async function verify(...files: string[]) {
  const { code, stdout, stderr } = await runAgro(testDatabase, 'releases', 'verify', CODE, ...files, '--json')
  const told = JSON.parse(stdout || stderr)
  return { code, told, states: told.files?.map(({ name, state }: Record<string, string>) => [name, state]) }
}
