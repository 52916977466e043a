import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
import { createReplayLag } from '#src/data/replica.ts'
import { createReads, StrayConnectionError } from '#src/data/replica-reads.ts'

/** Nothing is connected: what is read says by which pool it was to be. */
const pool = new pg.Pool()
const writerPool = new pg.Pool()
afterAll(() => Promise.all([pool.end(), writerPool.end()]))

const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

/** Reads that fail by turns as told, and where each was tried. */
function readsThat(...outcomes: (Error | 'well')[]) {
  const tried: string[] = []
  const { begin, counts } = createReads({ pool, writerPool, isUsed: async () => true, fail() {} })
  const reading = begin()
  const read = () =>
    reading.run(async (where) => {
      tried.push(where === pool ? 'replica' : 'primary')
      const outcome = outcomes.shift()
      if (outcome !== 'well') throw outcome
      return tried.length
    })
  return { tried, counts, read }
}

const stray = new StrayConnectionError('the connection leads to another replica')

type Outcome = Parameters<typeof readsThat>[number]

test.each<[what: string, outcomes: Outcome[], tried: string[]]>([
  [
    'fails on the replica by whatever, and on the primary, finds the database away',
    [stray, away, stray],
    ['replica', 'primary', 'replica'],
  ],
  [
    'failed on both comes back to the replica while nobody has shown anything',
    [away, away, 'well'],
    ['replica', 'primary', 'replica'],
  ],
  [
    'the primary has shown something never goes back',
    [away, 'well', away],
    ['replica', 'primary', 'primary'],
  ],
  [
    'the replica has shown something fails with the primary',
    ['well', away, away],
    ['replica', 'replica', 'primary'],
  ],
])('a reading that %s', async (_, outcomes, expected) => {
  const { read, tried, counts } = readsThat(...outcomes)
  const well = outcomes.indexOf('well') + 1
  if (well > 0) expect(await read()).toBe(well)
  if (well < outcomes.length) await expect(read()).rejects.toBe(away)
  else expect(counts).toEqual({ replica: 1, primary: 0 })
  expect(tried).toEqual(expected)
})

test('what is being read when the replica is left is read on the primary, whatever it is left for', async () => {
  const { begin, cut } = createReads({ pool, writerPool, isUsed: async () => true, fail() {} })
  const where = begin().run(async (used) => {
    if (used === writerPool) return 'primary'
    setImmediate(() => cut(new TypeError('what the replica answered has no row')))
    return new Promise<never>(() => {})
  })
  expect(await where).toBe('primary')
})

test('what the replica lacks is read on the primary, and counted', async () => {
  const { beginOnWriter, counts } = createReads({ pool, writerPool, isUsed: async () => true, fail() {} })
  expect(await beginOnWriter().run(async (used) => used === writerPool)).toBe(true)
  expect(counts).toEqual({ replica: 0, primary: 1 })
})

test('what was committed before the primary told a position is there once the replica has replayed that', () => {
  const lag = createReplayLag(1000)
  expect(lag.milliseconds(0)).toBe(Number.POSITIVE_INFINITY)
  lag.written(0, 100)
  lag.written(500, 200)
  lag.replayed(150)
  expect(lag.milliseconds(600)).toBe(600)
  lag.replayed(200)
  expect(lag.milliseconds(600)).toBe(100)
})

test('an idle primary makes no lag, however long nothing is written', () => {
  const lag = createReplayLag(1000)
  for (let now = 0; now <= 360_000; now += 500) {
    lag.written(now, 100)
    lag.replayed(100)
    expect(lag.milliseconds(now + 1)).toBe(1)
    expect(lag.isBounded(now + 1)).toBe(true)
  }
})

test('a replica that replays nothing is within the bound until what it has is too old, and again when it has caught up', () => {
  const lag = createReplayLag(1000)
  lag.written(0, 100)
  lag.replayed(100)
  for (let now = 500; now <= 360_000; now += 500) {
    lag.written(now, 100 + now)
    lag.replayed(100)
    expect(lag.isBounded(now)).toBe(now <= 1000)
    expect(lag.milliseconds(now)).toBe(now)
  }
  lag.replayed(100 + 360_000)
  expect(lag.milliseconds(360_001)).toBe(1)
  expect(lag.isBounded(360_001)).toBe(true)
})

test('while the primary does not answer, a replica that has replayed all that was told is good enough', () => {
  const lag = createReplayLag(1000)
  lag.written(0, 100)
  lag.replayed(100)
  lag.unknown()
  expect(lag.isBounded(60_000)).toBe(true)
  lag.written(60_500, 200)
  lag.unknown()
  lag.replayed(100)
  expect(lag.isBounded(62_000)).toBe(false)
  lag.replayed(200)
  expect(lag.isBounded(62_000)).toBe(true)
})

test('another replica in the place of one has to show by itself how far it is', () => {
  const lag = createReplayLag(1000)
  lag.written(0, 100)
  lag.replayed(100)
  lag.another()
  expect(lag.isBounded(1)).toBe(false)
  lag.unknown()
  expect(lag.isBounded(2)).toBe(false)
  expect(lag.replayed(99)).toBe(false)
  expect(lag.isBounded(3)).toBe(false)
  expect(lag.replayed(100)).toBe(true)
  expect([lag.milliseconds(4), lag.isBounded(4)]).toEqual([4, true])
})
