import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { StorageUnavailable } from '#src/data/failures.ts'
import { guarded, serveFiles } from '#src/extensions/tile-files/serving.ts'
import { FileMissing, openFolder, type Range, type RangeReader } from '#src/extensions/tile-files/store.ts'
import { newFolder } from '#test/setup/folders.ts'

const RANGE: Range = { name: 'a.tif', offset: 0, length: 3, isWhole: () => true }

const AWAY = new StorageUnavailable('nobody is there')

test('no more are read at a time than may be, in the order of those who ask', async () => {
  const { asked, read, files } = newStore()
  const reads = [read(), read(), read(), read()]
  await settled()
  expect(asked).toHaveLength(2)
  asked[1]?.answer(Buffer.from('two'))
  expect(String(await reads[1])).toBe('two')
  await settled()
  expect(asked).toHaveLength(3)
  asked[0]?.answer(Buffer.from('one'))
  asked[2]?.answer(Buffer.from('three'))
  await settled()
  asked[3]?.answer(Buffer.from('four'))
  expect((await Promise.all(reads)).map(String)).toEqual(['one', 'two', 'three', 'four'])
  expect(files.state()).toMatchObject({ isAway: false, reads: 4, bytes: 15 })
})

test('a store that is away is not waited for, by those who wait already neither, until it is back', async () => {
  const { asked, read, files } = newStore({ failures: 2 })
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const reads = [read(), read(), read(), read()].map((one) => one.catch((error: Error) => error.message))
  await vi.advanceTimersByTimeAsync(0)
  asked[0]?.fail(AWAY)
  await vi.advanceTimersByTimeAsync(0)
  asked[1]?.fail(AWAY)
  await vi.advanceTimersByTimeAsync(0)
  for (const one of asked.slice(2)) one.fail(AWAY)
  const refused = 'the files at /tiles were not asked for: they could not be reached just now'
  const messages = await Promise.all(reads)
  expect(messages).toEqual([AWAY.message, AWAY.message, AWAY.message, refused])
  await expect(read()).rejects.toThrow(refused)
  expect(asked).toHaveLength(3)
  expect(files.state()).toMatchObject({ isAway: true, errors: { unavailable: 3, refused: 2 } })
  await vi.advanceTimersByTimeAsync(100)
  const back = read()
  await vi.advanceTimersByTimeAsync(0)
  asked.at(-1)?.answer(Buffer.from('one'))
  expect(String(await back)).toBe('one')
  expect(files.state().isAway).toBe(false)
})

test('a store that hangs is waited for no longer than the deadline, and is away then', async () => {
  const { asked, read, files } = newStore({ deadlineMs: 10, failures: 2 })
  const late = 'the files at /tiles cannot be reached: they do not answer in time'
  const reads = [read(), read(), read()].map((one) => one.catch((error: Error) => error.message))
  expect((await Promise.all(reads)).slice(0, 2)).toEqual([late, late])
  expect(asked.map(({ signal }) => signal?.aborted)).toEqual([true, true])
  expect(files.state().isAway).toBe(true)
})

test('what a store has not, or refuses, is no sign that it is away', async () => {
  const { asked, read, files } = newStore({ failures: 1 })
  for (const error of [
    new FileMissing('it is not there'),
    new StorageUnavailable('the answer is 403', { hasAnswered: true }),
  ]) {
    const reading = read()
    await settled()
    asked.at(-1)?.fail(error)
    await expect(reading).rejects.toBe(error)
  }
  expect(files.state()).toMatchObject({
    isAway: false,
    errors: { missing: 1, unavailable: 1, damaged: 0, refused: 0 },
  })
})

test('work that had to wait says nothing of a store that is busy and well', async () => {
  const { asked, read, files } = newStore({ deadlineMs: 100, failures: 1, concurrency: 2 })
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const first = read()
  await vi.advanceTimersByTimeAsync(0)
  const hangs = read().catch((error: Error) => error.message)
  await vi.advanceTimersByTimeAsync(10)
  const waits = read().catch((error: Error) => error.message)
  await vi.advanceTimersByTimeAsync(80)
  asked[0]?.answer(Buffer.from('one'))
  expect(String(await first)).toBe('one')
  await vi.advanceTimersByTimeAsync(0)
  asked[1]?.answer(Buffer.from('two'))
  expect(String(await hangs)).toBe('two')
  await vi.advanceTimersByTimeAsync(20)
  expect(await waits).toContain('do not answer in time')
  expect(asked).toHaveLength(3)
  expect(files.state().isAway).toBe(false)
})

test('a store is away while all places hang, with others answered between', async () => {
  const { asked, read, files } = newStore({ deadlineMs: 10 })
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  async function readTooLate(): Promise<void> {
    const late = expect(read()).rejects.toThrow('in time')
    await vi.advanceTimersByTimeAsync(10)
    await late
  }
  await readTooLate()
  const answered = read()
  await vi.advanceTimersByTimeAsync(0)
  asked[1]?.answer(Buffer.from('two'))
  await answered
  expect(files.state().isAway).toBe(false)
  await readTooLate()
  expect(files.state().isAway).toBe(true)
  await expect(read()).rejects.toThrow('were not asked for')
  expect(asked).toHaveLength(3)
  asked[0]?.fail(AWAY)
  await vi.advanceTimersByTimeAsync(0)
  expect(files.state().isAway).toBe(false)
})

test('a folder that hangs is away once all that may be read of it at a time has hung', async () => {
  const config = loadConfig({
    ENV_FILE: '/dev/null',
    JWT_SECRET: 'x'.repeat(32),
    TILE_STORE: 'file:///srv/tiles',
    TILE_STORE_TIMEOUT_MS: '50',
  })
  const folder = { ...openFolder('/srv/tiles'), read: () => new Promise<Buffer>(() => {}) }
  const { ranges, store } = serveFiles(config, folder, { warn: () => {} })
  const reads = [1, 2].map(() => ranges.read(RANGE).catch((error: Error) => error.message))
  for (const message of await Promise.all(reads)) expect(message).toContain('do not answer in time')
  expect(store().isAway).toBe(true)
})

test('a cache that cannot be written is named at the start', async () => {
  const file = join(await newFolder(), 'file')
  await writeFile(file, '')
  const config = loadConfig({
    TILE_STORE: 'file:///srv/tiles',
    TILE_DISK_CACHE_DIR: join(file, 'cache'),
  })
  const warned = new Promise<[{ reason?: string }, string]>((resolve) => {
    serveFiles(config, openFolder('/srv/tiles'), { warn: (...line) => resolve(line) })
  })
  expect(await warned).toEqual([
    { reason: expect.stringContaining('ENOTDIR') },
    'nothing is stored in TILE_DISK_CACHE_DIR: it cannot be written',
  ])
})

const LIMITS = { failures: 3, pauseMs: 100, concurrency: 2, deadlineMs: 60_000 }

interface Asked {
  signal: AbortSignal | undefined
  answer(bytes: Buffer): void
  fail(error: Error): void
}

/** What is read through a guard from a store that answers when the test says so. */
function newStore(limits: Partial<typeof LIMITS> = {}) {
  const asked: Asked[] = []
  const ranges: RangeReader = {
    read: (_, signal) =>
      new Promise((resolve, reject) => {
        asked.push({ signal, answer: resolve, fail: reject })
      }),
  }
  const files = guarded('/tiles', ranges, { ...LIMITS, ...limits })
  return { asked, files, read: () => files.read(RANGE) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
