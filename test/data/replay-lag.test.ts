import { expect, test } from 'vitest'
import { createReplayLag } from '#src/data/replica.ts'

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
  for (let now = 0; now <= 3_600_000; now += 500) {
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
  for (let now = 500; now <= 3_600_000; now += 500) {
    lag.written(now, 100 + now)
    lag.replayed(100)
    expect(lag.isBounded(now)).toBe(now <= 1000)
    expect(lag.milliseconds(now)).toBe(now)
  }
  lag.replayed(100 + 3_600_000)
  expect(lag.milliseconds(3_600_001)).toBe(1)
  expect(lag.isBounded(3_600_001)).toBe(true)
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
