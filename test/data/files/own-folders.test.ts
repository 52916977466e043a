import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { makeOwnFolder } from '#src/data/files/made-files.ts'
import { newFolder } from '#test/setup/folders.ts'

/** The number of a process that has ended. */
async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(child, 'exit')
  return child.pid as number
}

test('folders of processes that ended are removed, and of the others none', async () => {
  const parent = await newFolder()
  const own = await makeOwnFolder(parent, 'agro-')
  const [host, pid, start] = basename(own).slice('agro-'.length).split('-') as [string, string, string]
  const gone = await endedProcess()
  const folders = {
    // Its number is another process's by now.
    earlier: `agro-${host}-${pid}-${Number(start) + 1}-abcdef`,
    ended: `agro-${host}-${gone}-${start}-abcdef`,
    elsewhere: `agro-${'0'.repeat(12)}-${gone}-${start}-abcdef`,
    unlike: 'agro-notes',
    other: `else-${host}-${gone}-${start}-abcdef`,
  }
  for (const name of Object.values(folders)) {
    await mkdir(join(parent, name))
    await writeFile(join(parent, name, 'file'), 'left')
  }
  const next = await makeOwnFolder(parent, 'agro-')
  const { elsewhere, unlike, other } = folders
  expect(new Set(await readdir(parent))).toEqual(
    new Set([basename(own), basename(next), elsewhere, unlike, other]),
  )
})
