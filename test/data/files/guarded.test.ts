import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { guarded, serveFiles } from '#src/data/files/serving.ts'
import {
  FileMissing,
  openFolder,
  type Range,
  type RangeReader,
  StorageUnavailable,
} from '#src/data/files/store.ts'
import { newFolder } from '#test/setup/folders.ts'

const RANGE: Range = { name: 'a.tif', offset: 0, length: 3, isWhole: () => true }
const LIMITS = { failures: 3, firstPauseMs: 100, longestPauseMs: 300, concurrency: 2, deadlineMs: 60_000 }

interface Asked {
  signal: AbortSignal | undefined
  answer(bytes: Buffer): void
  fail(error: Error): void
}

/** What is read through a guard from a store that answers when it is told to. */
function newStore(limits: Partial<typeof LIMITS> = {}) {
  const clock = { now: 0 }
  const asked: Asked[] = []
  const ranges: RangeReader = {
    read: (_, signal) =>
      new Promise((resolve, reject) => {
        asked.push({ signal, answer: resolve, fail: reject })
      }),
  }
  const files = guarded('/tiles', ranges, { ...LIMITS, ...limits }, () => clock.now)
  return { clock, asked, files, read: () => files.read(RANGE) }
}

const AWAY = new StorageUnavailable('nobody is there')
const settled = () => new Promise((resolve) => setImmediate(resolve))

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
  const { asked, read, files, clock } = newStore({ failures: 2 })
  const reads = [read(), read(), read(), read()].map((one) => one.catch((error: Error) => error.message))
  await settled()
  asked[0]?.fail(AWAY)
  asked[1]?.fail(AWAY)
  await settled()
  for (const one of asked.slice(2)) one.fail(AWAY)
  const refused = 'the files at /tiles were not asked for: they could not be reached just now'
  const messages = await Promise.all(reads)
  expect(messages.slice(0, 2)).toEqual([AWAY.message, AWAY.message])
  expect(messages.at(-1)).toBe(refused)
  const before = asked.length
  await expect(read()).rejects.toThrow(refused)
  expect(asked).toHaveLength(before)
  expect(files.state().isAway).toBe(true)
  clock.now = 100
  const probe = read()
  await settled()
  await expect(read()).rejects.toThrow(refused)
  asked.at(-1)?.answer(Buffer.from('one'))
  expect(String(await probe)).toBe('one')
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

test('who has waited long for a turn learns nothing of a store that is busy and well', async () => {
  const { asked, read, files } = newStore({ deadlineMs: 100, failures: 1, concurrency: 1 })
  vi.useFakeTimers()
  try {
    const first = read()
    await vi.advanceTimersByTimeAsync(50)
    const waits = read().catch((error: Error) => error.message)
    await vi.advanceTimersByTimeAsync(40)
    asked[0]?.answer(Buffer.from('one'))
    expect(String(await first)).toBe('one')
    const leaves = read().catch((error: Error) => error.message)
    await vi.advanceTimersByTimeAsync(60)
    expect(await waits).toContain('do not answer in time')
    expect(files.state().isAway).toBe(false)
    expect(asked).toHaveLength(2)
    asked[1]?.answer(Buffer.from('two'))
    await vi.advanceTimersByTimeAsync(40)
    expect(await leaves).toContain('do not answer in time')
    expect(files.state().isAway).toBe(false)
    // It has its own time, and is too late by that.
    await vi.advanceTimersByTimeAsync(60)
    expect(files.state().isAway).toBe(true)
  } finally {
    vi.useRealTimers()
  }
})

test('a store is away where all places hang, one after the other and with others answered between', async () => {
  const { asked, read, files } = newStore({ deadlineMs: 10, failures: 2 })
  await expect(read()).rejects.toThrow('in time')
  const answered = read()
  await settled()
  asked[1]?.answer(Buffer.from('two'))
  await answered
  await expect(read()).rejects.toThrow('in time')
  expect(files.state().isAway).toBe(false)
  await expect(read()).rejects.toThrow('in time')
  expect(asked).toHaveLength(3)
  expect(files.state().isAway).toBe(true)
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

test('a cache that cannot be written is told of at the start', async () => {
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
    'nothing is kept in TILE_DISK_CACHE_DIR: it cannot be written',
  ])
})
