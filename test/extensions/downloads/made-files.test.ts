import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { openNameless } from '#src/data/nameless-file.ts'
import { createMadeFiles, MOST_ON_DISK, type OpenMadeFile } from '#src/extensions/downloads/made-files.ts'
import { newFolder } from '#test/setup/folders.ts'

const folder = await newFolder()

test('a file is made once for all who ask meanwhile, and has no name at any time', async () => {
  const files = createMadeFiles(1000)
  let made = 0
  const once = () => {
    made++
    return writing('a', 10)()
  }
  await Promise.all([files.make('one', once), files.make('one', once), files.make('two', writing('b', 20))])
  expect(made).toBe(1)
  expect([await read(files, 'one'), await read(files, 'two')]).toEqual(['a'.repeat(10), 'b'.repeat(20)])
  expect(await readdir(folder)).toEqual([])
  await files.close()
})

test('a reader has the bytes that it names, and several have theirs at once', async () => {
  const files = createMadeFiles(1_000_000)
  const text = Array.from({ length: 100_000 }, (_, at) => String(at % 10)).join('')
  await files.make('one', async () => {
    const handle = await openNameless(folder)
    await handle.write(text)
    return { bytes: text.length, checksum: 'digits', handle }
  })
  const parts = [
    [0, 99_999],
    [99_990, 99_999],
    [5, 5],
    [70_000, 90_000],
  ] as const
  const found = await Promise.all(
    parts.map(async ([first, last]) => {
      const file = files.open('one') as OpenMadeFile
      return Buffer.concat(await file.stream(first, last).toArray()).toString()
    }),
  )
  expect(found).toEqual(parts.map(([first, last]) => text.slice(first, last + 1)))
  await files.close()
})

test('the file of the earliest use makes room, and its reader reads it to its end', async () => {
  const files = createMadeFiles(100)
  await files.make('one', writing('a', 60))
  await files.make('two', writing('b', 30))
  const open = files.open('one') as OpenMadeFile
  await read(files, 'two')
  await files.make('three', writing('c', 50))
  expect(await read(files, 'one')).toBeUndefined()
  expect(files.facts('one')).toEqual({ bytes: 60, checksum: 'a' })
  expect(await readAll(open)).toBe('a'.repeat(60))
  await files.close()
})

test('files that had to make room count as long as they are read', async () => {
  const files = createMadeFiles(100)
  const open: OpenMadeFile[] = []
  for (const key of ['one', 'two', 'three']) {
    expect(files.isFull()).toBe(false)
    await files.make(key, writing('a', 80))
    open.push(files.open(key) as OpenMadeFile, files.open(key) as OpenMadeFile)
  }
  const [first, again, ...others] = open as [OpenMadeFile, OpenMadeFile]
  expect(files.isFull()).toBe(true)
  first.close()
  expect(files.isFull()).toBe(true)
  // As an answer reads it, whose client goes away.
  const stream = again.stream(0, 79)
  stream.destroy()
  await new Promise((resolve) => stream.once('close', resolve))
  expect(files.isFull()).toBe(false)
  for (const file of others as OpenMadeFile[]) file.close()
  await files.close()
})

test('nothing is left of a file that failed, or is too large', async () => {
  const files = createMadeFiles(100)
  const fail = () => Promise.reject(new Error('the store is away'))
  await expect(files.make('one', fail)).rejects.toThrow('the store is away')
  await files.make('large', writing('b', 101))
  expect(await read(files, 'large')).toBeUndefined()
  expect(files.isFull()).toBe(false)
  await files.make('one', writing('c', 10))
  expect(await read(files, 'one')).toBe('c'.repeat(10))
  await files.close()
})

test('a folder that is not there is an error each time', async () => {
  for (let time = 0; time < 2; time++) {
    await expect(openNameless(join(folder, 'none'))).rejects.toThrow('ENOENT')
  }
})

test('takes the room that deployments give it: see test/ops/packages.test.ts', () => {
  expect([MOST_ON_DISK, loadConfig({}).DOWNLOAD_CACHE_MB]).toEqual([4, 256])
})

const writing = (letter: string, bytes: number) => async () => {
  const handle = await openNameless(folder)
  await handle.write(letter.repeat(bytes))
  return { bytes, checksum: letter, handle }
}

async function readAll(file: OpenMadeFile): Promise<string> {
  return Buffer.concat(await file.stream(0, file.bytes - 1).toArray()).toString()
}

async function read(files: ReturnType<typeof createMadeFiles>, key: string): Promise<string | undefined> {
  const file = files.open(key)
  return file && readAll(file)
}
