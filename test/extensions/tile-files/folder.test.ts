import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openFolder } from '#src/extensions/tile-files/store.ts'
import { newFolder } from '#test/setup/folders.ts'

const nameOf = (number: number) => `${number.toString(16).padStart(64, '0')}.tif`

test('a folder is listed while others remove files from it', async () => {
  const folder = await newFolder()
  const store = openFolder(folder)
  for (let number = 0; number < 20; number++) await store.write(nameOf(number), Buffer.from('bytes'))
  const found: string[] = []
  for await (const { name } of store.list()) {
    found.push(name)
    for (const other of await readdir(join(folder, '00'))) {
      if (other !== name) await rm(join(folder, '00', other))
    }
  }
  expect(found).toHaveLength(1)
})

test('what a write has left that was cut off is listed as that, and can be removed', async () => {
  const folder = await newFolder()
  const store = openFolder(folder)
  await store.write(nameOf(1), Buffer.from('bytes'))
  await writeFile(join(folder, '00', `${nameOf(1)}.0123456789ab`), 'byt')
  await writeFile(join(folder, '00', 'README'), 'none of ours')
  const list = async () => {
    const found = []
    for await (const { name, bytes, unfinished } of store.list()) found.push({ name, bytes, unfinished })
    return found.sort((a, b) => a.bytes - b.bytes)
  }
  const whole = { name: nameOf(1), bytes: 5, unfinished: false }
  const [rest] = await list()
  expect(await list()).toEqual([{ name: `${nameOf(1)}.0123456789ab`, bytes: 3, unfinished: true }, whole])
  await store.remove(rest?.name as string)
  expect(await list()).toEqual([whole])
})
