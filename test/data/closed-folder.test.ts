import { chmod, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { closeToOthers } from '#src/data/embedded/cluster.ts'
import { newFolder } from '#test/setup/folders.ts'

let folder: string
beforeEach(async () => {
  folder = await newFolder()
  await mkdir(join(folder, 'postgres/pg_wal'), { recursive: true })
  await writeFile(join(folder, 'postgres/pg_wal/1'), '')
  await writeFile(join(folder, 'jwt-secret'), '')
  await openAll()
})

const OURS = ['.', 'jwt-secret', 'postgres', 'postgres/pg_wal', 'postgres/pg_wal/1']

async function openAll() {
  for (const path of OURS) await chmod(join(folder, path), path.endsWith('1') ? 0o664 : 0o775)
}

/** What others may do with a file of the folder, as the last two digits of its mode. */
async function modeOf(path: string): Promise<string> {
  return ((await stat(join(folder, path))).mode & 0o777).toString(8)
}

test('what is open to others is closed, once, and its owner may do what they could', async () => {
  expect(await closeToOthers(folder)).toEqual({ closed: 5, open: [] })
  expect(await Promise.all(OURS.map(modeOf))).toEqual(['700', '700', '700', '700', '600'])
  expect(await closeToOthers(folder)).toEqual({ closed: 0, open: [] })
})

test('a folder with other things in it stays as it is, and so do they; what is ours is closed', async () => {
  await writeFile(join(folder, 'notes.txt'), '')
  await chmod(join(folder, 'notes.txt'), 0o644)
  expect(await closeToOthers(folder)).toEqual({ closed: 4, open: [] })
  expect(await Promise.all(['.', 'notes.txt', 'postgres'].map(modeOf))).toEqual(['775', '644', '700'])
})

test('what a link leads to is left alone', async () => {
  const elsewhere = join(await newFolder(), 'elsewhere')
  await writeFile(elsewhere, '')
  await chmod(elsewhere, 0o644)
  await symlink(elsewhere, join(folder, 'postgres/link'))
  expect(await closeToOthers(folder)).toEqual({ closed: 5, open: [] })
  expect((await stat(elsewhere)).mode & 0o777).toBe(0o644)
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
