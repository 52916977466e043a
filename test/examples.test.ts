import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { newFolder } from './setup/folders.ts'

test('the samples are what `npm run examples` makes', async () => {
  const folder = await newFolder()
  await promisify(execFile)(process.execPath, ['bin/run.mjs', 'scripts/make-examples.ts', folder])
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  expect(files).toHaveLength(16)
  for (const file of files) {
    const sample = join('examples', file.slice(folder.length))
    expect((await readFile(file)).equals(await readFile(sample)), sample).toBe(true)
  }
})
