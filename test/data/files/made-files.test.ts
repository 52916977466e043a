import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMadeFiles, type MadeFiles, type OpenMadeFile } from '#src/data/files/made-files.ts'
import { newFolder } from '#test/setup/folders.ts'

/** Writes a file of so many letters. */
const writing = (letter: string, bytes: number) => async (path: string) => {
  await writeFile(path, letter.repeat(bytes))
  return { bytes, checksum: letter }
}

/** What a file has in it; undefined where it is not there. */
async function read(files: MadeFiles, key: string): Promise<string | undefined> {
  const file = await files.open(key)
  if (!file) return undefined
  const text = String(await file.handle.readFile())
  await file.handle.close()
  return text
}

async function pathsIn(parent: string): Promise<string[]> {
  const entries = await readdir(parent, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
}

test('a file is made once for all who ask meanwhile, and is gone with the rest at the end', async () => {
  const parent = await newFolder()
  const files = createMadeFiles(parent, 1000)
  let made = 0
  const once = (path: string) => {
    made++
    return writing('a', 10)(path)
  }
  await Promise.all([files.make('one', once), files.make('one', once), files.make('two', writing('b', 20))])
  expect(made).toBe(1)
  expect([await read(files, 'one'), await read(files, 'two')]).toEqual(['a'.repeat(10), 'b'.repeat(20)])
  await files.close()
  expect(await readdir(parent)).toEqual([])
})

test('what was asked for longest ago makes room, and who has it open reads it to its end', async () => {
  const parent = await newFolder()
  const files = createMadeFiles(parent, 100)
  await files.make('one', writing('a', 60))
  await files.make('two', writing('b', 30))
  const open = await files.open('one')
  await read(files, 'two')
  await files.make('three', writing('c', 50))
  expect(await read(files, 'one')).toBeUndefined()
  expect(files.known('one')).toEqual({ bytes: 60, checksum: 'a' })
  expect(String(await open?.handle.readFile())).toBe('a'.repeat(60))
  await open?.handle.close()
  await expect.poll(async () => (await pathsIn(parent)).length).toBe(2)
  await files.close()
})

test('files that had to make room count as long as they are read', async () => {
  const files = createMadeFiles(await newFolder(), 100)
  const open: (OpenMadeFile | undefined)[] = []
  for (const key of ['one', 'two', 'three']) {
    expect(files.isFull()).toBe(false)
    await files.make(key, writing('a', 80))
    open.push(await files.open(key), await files.open(key))
  }
  const [first, again] = open
  expect(files.isFull()).toBe(true)
  await first?.handle.close()
  expect(files.isFull()).toBe(true)
  // As an answer reads it.
  await again?.handle.createReadStream().resume().toArray()
  expect(files.isFull()).toBe(false)
  await Promise.all(open.map((file) => file?.handle.close()))
  await files.close()
})

test('nothing is left of what failed, is too large, or was removed by somebody else', async () => {
  const parent = await newFolder()
  const files = createMadeFiles(parent, 100)
  const fail = async (path: string) => {
    await writing('a', 10)(path)
    throw new Error('the store is away')
  }
  await expect(files.make('one', fail)).rejects.toThrow('the store is away')
  await files.make('large', writing('b', 101))
  expect(await read(files, 'large')).toBeUndefined()
  expect(await pathsIn(parent)).toEqual([])
  await files.make('one', writing('a', 10))
  const [path] = (await pathsIn(parent)) as [string]
  expect(String(await readFile(path))).toBe('a'.repeat(10))
  await rm(path)
  expect(await read(files, 'one')).toBeUndefined()
  await files.make('one', writing('c', 10))
  expect(await read(files, 'one')).toBe('c'.repeat(10))
  await files.close()
})

test('a folder that somebody has cleaned away is made anew, and is gone at the end', async () => {
  const parent = await newFolder()
  const files = createMadeFiles(parent, 100)
  await files.make('one', writing('a', 10))
  for (const name of await readdir(parent)) await rm(join(parent, name), { recursive: true })
  await Promise.all([files.make('two', writing('b', 10)), files.make('three', writing('c', 10))])
  expect([await read(files, 'one'), await read(files, 'two')]).toEqual([undefined, 'b'.repeat(10)])
  expect(await readdir(parent)).toHaveLength(1)
  await files.close()
  expect(await readdir(parent)).toEqual([])
})

test('a folder that is not there is an error each time', async () => {
  const files = createMadeFiles(join(await newFolder(), 'none'), 100)
  for (let time = 0; time < 2; time++) {
    await expect(files.make('one', writing('a', 1))).rejects.toThrow('ENOENT')
  }
  await files.close()
})
