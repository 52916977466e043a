import { expect, test } from 'vitest'
import { guarded } from '#src/storage/guarded.ts'
import type { Range, RangeReader } from '#src/storage/ranges.ts'
import { FileMissing, StorageUnavailable } from '#src/storage/store.ts'

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
