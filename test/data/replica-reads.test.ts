import pg from 'pg'
import { afterAll, expect, test } from 'vitest'
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

test('a reading that failed on both comes back to the replica while nobody has shown anything', async () => {
  const { read, tried, counts } = readsThat(away, away, 'well')
  expect(await read()).toBe(3)
  expect(tried).toEqual(['replica', 'primary', 'replica'])
  expect(counts).toEqual({ replica: 1, primary: 0 })
})

test('one that the primary has shown something never goes back', async () => {
  const { read, tried } = readsThat(away, 'well', away)
  expect(await read()).toBe(2)
  await expect(read()).rejects.toBe(away)
  expect(tried).toEqual(['replica', 'primary', 'primary'])
})

test('one that the replica has shown something fails with the primary', async () => {
  const { read, tried } = readsThat('well', away, away)
  expect(await read()).toBe(1)
  await expect(read()).rejects.toBe(away)
  expect(tried).toEqual(['replica', 'replica', 'primary'])
})

test('whatever the replica fails by at last, the database is away', async () => {
  const stray = new StrayConnectionError('the connection leads to another replica')
  const { read, tried } = readsThat(stray, away, stray)
  await expect(read()).rejects.toBe(away)
  expect(tried).toEqual(['replica', 'primary', 'replica'])
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
