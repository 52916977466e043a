import { chmod, mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { closeToOthers } from '#src/data/embedded/cluster.ts'
import { newFolder } from '#test/setup/folders.ts'

let folder: string
beforeEach(async () => {
  folder = await newFolder()
  await mkdir(join(folder, 'postgres'))
  await writeFile(join(folder, 'jwt-secret'), '')
  await openAll()
})

const OURS = ['.', 'jwt-secret', 'postgres']

async function openAll() {
  for (const path of OURS) await chmod(join(folder, path), 0o775)
}

/** What others may do with a file of the folder, as the last two digits of its mode. */
async function modeOf(path: string): Promise<string> {
  return ((await stat(join(folder, path))).mode & 0o777).toString(8)
}

test('what is open to others is closed, once, and its owner may do what they could', async () => {
  expect(await closeToOthers(folder)).toEqual({ closed: 3, open: [] })
  expect(await Promise.all(OURS.map(modeOf))).toEqual(['700', '700', '700'])
  expect(await closeToOthers(folder)).toEqual({ closed: 0, open: [] })
})

test('a folder with other things in it stays as it is, and so do they; what is ours is closed', async () => {
  await writeFile(join(folder, 'notes.txt'), '')
  await chmod(join(folder, 'notes.txt'), 0o644)
  expect(await closeToOthers(folder)).toEqual({ closed: 2, open: [] })
  expect(await Promise.all(['.', 'notes.txt', 'postgres'].map(modeOf))).toEqual(['775', '644', '700'])
})

// Only root can become somebody whom the files do not belong to.
test.skipIf(process.getuid?.() !== 0)('what belongs to somebody else is named', async () => {
  const nobody = 65_534
  process.seteuid?.(nobody)
  onTestFinished(() => process.seteuid?.(0))
  expect(await closeToOthers(folder)).toEqual({
    closed: 0,
    open: [folder, ...OURS.slice(1).map((path) => join(folder, path))],
  })
})
