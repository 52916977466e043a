import { execFileSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type FolderApart, openFolderApart } from '#src/data/files/apart/store.ts'
import { openFolder, pathOf } from '#src/data/files/store.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const NAME = `${'fa'.repeat(32)}.tif`
const HUNG = `${'fb'.repeat(32)}.tif`
const NONE = `${'fc'.repeat(32)}.tif`

let apart: FolderApart | undefined
afterEach(() => apart?.end())

async function listOf(store: FolderApart | ReturnType<typeof openFolder>) {
  const found = []
  for await (const file of store.list()) found.push(file)
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

test('a folder that another process reads answers as it does itself', async () => {
  const folder = await newFolder()
  const itself = openFolder(folder)
  for (let number = 0; number < 150; number++) {
    await itself.write(
      `${number.toString(16).padStart(2, '0').repeat(32).slice(0, 64)}.tif`,
      Buffer.from([number]),
    )
  }
  await itself.write(NAME, Buffer.from('0123456789'))
  apart = openFolderApart(folder, PATIENCE.timeout)
  expect(String(await apart.read(NAME, 2, 5))).toBe('23456')
  await expect(apart.read(NAME, 5, 6)).rejects.toMatchObject({ name: 'FileMissing' })
  await expect(apart.read(NONE, 0, 1)).rejects.toMatchObject({ name: 'FileMissing' })
  expect([apart.place, await apart.canWrite()]).toEqual([folder, true])
  expect(await listOf(apart)).toEqual(await listOf(itself))
  await expect(apart.write(NAME, Buffer.alloc(1))).rejects.toMatchObject({ name: 'OperatorError' })
  const gone = openFolderApart(join(folder, 'none'), PATIENCE.timeout)
  await expect(gone.read(NAME, 0, 1)).rejects.toMatchObject({ name: 'StorageUnavailable' })
  gone.end()
})

test.skipIf(process.platform === 'win32')('a read that hangs keeps nobody from ending', async () => {
  const folder = await newFolder()
  const path = join(folder, pathOf(HUNG))
  await mkdir(dirname(path))
  // Who opens a pipe waits until somebody writes into it.
  execFileSync('mkfifo', [path])
  const program = `
    import { openFolderApart } from '#src/data/files/apart/store.ts'
    const files = openFolderApart(${JSON.stringify(folder)}, 1000)
    for (const _ of [1, 2]) await files.read(${JSON.stringify(HUNG)}, 0, 1).catch(({ message }) => console.log(message))
    files.end()`
  const said = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: PATIENCE.timeout,
  })
  const sentence = `the files in ${folder} cannot be reached: they do not answer in time\n`
  expect(said).toBe(sentence + sentence)
})
