import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { diskCached } from '#src/extensions/tile-files/disk-cache.ts'
import type { Range, RangeReader } from '#src/extensions/tile-files/store.ts'
import { newFolder } from '#test/setup/folders.ts'
import { mountSmallDisk } from '#test/setup/small-disk.ts'

const LIMITS = { mostBytes: 100_000, processes: 1, deadlineMs: 60_000, writes: 100, pauseMs: 60_000 }

test('what was read is read from the disk then, by other processes and later ones too', async () => {
  const folder = join(await newFolder(), 'cache')
  const store = newStore()
  const [one, other] = [diskCached(store, folder, LIMITS), diskCached(store, folder, LIMITS)]
  const { range, bytes } = part(1)
  await keep(one, [1, 1])
  expect(await other.read(range)).toEqual(bytes)
  expect(await diskCached(store, folder, LIMITS).read(range)).toEqual(bytes)
  expect(store.asked).toEqual([1])
  expect(other.state()).toEqual({ hits: 1, misses: 0, hitBytes: 1000, failures: 0, evictions: 0 })
  const [file] = await filesOf(folder)
  expect((await stat(file as string)).mode & 0o777).toBe(0o600)
})

test.each([
  ['changed', (bytes: Buffer) => bytes.fill(0, 7, 8)],
  ['cut off', (bytes: Buffer) => bytes.subarray(1)],
])('what is %s on the disk is read from the store again, and stored anew', async (_, damage) => {
  const folder = await newFolder()
  const store = newStore()
  const files = diskCached(store, folder, LIMITS)
  await keep(files, [1])
  const [file] = await filesOf(folder)
  await writeFile(file as string, damage(await readFile(file as string)))
  await keep(files, [1, 1])
  expect(store.asked).toEqual([1, 1])
  expect(files.state().failures).toBe(1)
})

test('what fails at the store is not stored', async () => {
  const folder = await newFolder()
  const failing = diskCached({ read: () => Promise.reject(new Error('damaged')) }, folder, LIMITS)
  await expect(failing.read(part(1).range)).rejects.toThrow('damaged')
  await failing.settled()
  expect(await filesOf(folder)).toEqual([])
})

test('a folder stays within its bound, and what was used longest ago goes first', async () => {
  const folder = await newFolder()
  const files = diskCached(newStore(), folder, LIMITS)
  await keep(files, numbers(0, 90))
  for (const file of await filesOf(folder)) {
    const age = 1000 + Number(/\.(\d+)-1000$/.exec(file)?.[1])
    await utimes(file, age, age)
  }
  // They are used once more.
  await keep(files, [0, 5, ...numbers(90, 96)])
  const stored = await numbersIn(folder)
  expect(stored).toEqual([0, 5, ...numbers(13, 96)])
  for (let number = 96; number < 160; number++) {
    await keep(files, [number])
    expect((await filesOf(folder)).length).toBeLessThanOrEqual(100)
  }
  expect(files.state().evictions).toBeGreaterThan(50)
})

test('what is larger than an eighth of the bound is not stored', async () => {
  const folder = await newFolder()
  const files = diskCached(newStore(), folder, { ...LIMITS, mostBytes: 7999 })
  await keep(files, [1])
  expect(await filesOf(folder)).toEqual([])
})

test('a folder that cannot be used is no error', async () => {
  const folder = join(await newFolder(), 'file')
  await writeFile(folder, '')
  const store = newStore()
  const files = diskCached(store, folder, LIMITS)
  await keep(files, [1, 2, 1])
  expect(store.asked).toEqual([1, 2, 1])
  expect(files.state().failures).toBe(4)
})

test('a disk that hangs is passed over, has two reads, and leaves all else to others', async () => {
  const folder = await newFolder()
  const files = diskCached(newStore(), folder, { ...LIMITS, deadlineMs: 20, pauseMs: 0, writes: 0 })
  const pipes = [1, 2, 3, 4, 5, 6].map((number) => {
    const { name } = part(number).range
    return join(folder, name.slice(0, 2), `${name}.${number}-1000`)
  })
  for (const pipe of pipes) await mkdir(dirname(pipe), { recursive: true })
  execFileSync('mkfifo', pipes)
  await Promise.all([1, 2, 3, 4, 5, 6].map((number) => files.read(part(number).range)))
  for (const number of [3, 4, 5, 6]) await files.read(part(number).range)
  expect(files.state()).toMatchObject({ misses: 10, failures: 6 })
  // Of four threads there are some left.
  expect((await stat(folder)).isDirectory()).toBe(true)
  // Whoever opens a pipe for both waits for nobody, and ends the wait of those who read.
  const ends = pipes.map((pipe) => openSync(pipe, 'r+'))
  for (const end of ends) closeSync(end)
})

test('what else lies in a folder is neither counted nor removed', async () => {
  const folder = await newFolder()
  const sum = part(1).range.name
  await mkdir(join(folder, sum.slice(0, 2)))
  const others = [sum, `${sum}.0123456789ab`, 'notes.txt'].map((name) => join(folder, sum.slice(0, 2), name))
  for (const path of others) {
    await writeFile(path, Buffer.alloc(200_000))
    await utimes(path, 1000, 1000)
  }
  const files = diskCached(newStore(), folder, LIMITS)
  await keep(files, numbers(0, 20))
  expect(files.state().evictions).toBe(0)
  expect(await filesOf(folder)).toEqual(expect.arrayContaining(others))
  expect(await numbersIn(folder)).toHaveLength(20)
})

test('services that know nothing of each other keep a folder of theirs about within its bound', async () => {
  const folder = await newFolder()
  const services = [1, 2, 3, 4].map(() => diskCached(newStore(), folder, LIMITS))
  for (let number = 0; number < 200; number++) {
    await keep(services[number % 4] as (typeof services)[number], [number])
    if (number % 10 === 0) expect((await filesOf(folder)).length).toBeLessThanOrEqual(100 + (4 * 100) / 8)
  }
})

test('a disk that is full is no error, and what is on it is read', async ({ skip }) => {
  const small = mountSmallDisk('.')
  if (!small) return skip()
  const { folder, unmount } = small
  try {
    await chmod(folder, 0o700)
    const store = newStore()
    const files = diskCached(store, folder, LIMITS)
    await keep(files, [1])
    await writeFile(join(folder, 'all of it'), Buffer.alloc(3e6)).catch(() => {})
    await keep(files, [2, 1])
    expect(store.asked).toEqual([1, 2])
    expect(files.state().failures).toBe(1)
    expect(await numbersIn(folder)).toEqual([1])
  } finally {
    unmount()
  }
})

/** A part of a file with a thousand bytes, which go by its number. */
function part(number: number): { range: Range; bytes: Buffer } {
  const sum = createHash('sha256').update(String(number)).digest('hex')
  const bytes = Buffer.alloc(1000, `${number} ${sum}`)
  const range = {
    name: `${sum}.tif`,
    offset: number,
    length: 1000,
    isWhole: (read: Buffer) => read.equals(bytes),
  }
  return { range, bytes }
}

/** A store that has all parts, and what was asked of it. */
function newStore(): RangeReader & { asked: number[] } {
  const asked: number[] = []
  return {
    asked,
    async read({ offset }) {
      asked.push(offset)
      return part(offset).bytes
    },
  }
}

async function filesOf(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  return names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

async function numbersIn(folder: string): Promise<number[]> {
  const numbers = (await filesOf(folder)).map((name) => /\.(\d+)-1000$/.exec(name)?.[1] ?? 'none')
  return numbers
    .filter((number) => number !== 'none')
    .map(Number)
    .sort((a, b) => a - b)
}

/** Reads parts one after the other; each is stored before the next one. */
async function keep(files: ReturnType<typeof diskCached>, numbers: number[]): Promise<void> {
  for (const number of numbers) {
    expect(await files.read(part(number).range)).toEqual(part(number).bytes)
    await files.settled()
  }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
