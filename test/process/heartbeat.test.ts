import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Heartbeat, startHeartbeat } from '#src/workers.ts'

const PINGS = { everyMs: 1000, untilHanging: 5, untilGivenUp: 30 }

let said: string[]
let heartbeat: Heartbeat

beforeEach(() => {
  vi.useFakeTimers()
  said = []
  heartbeat = startHeartbeat(PINGS, {
    ping: () => said.push('ping'),
    hangs: () => said.push('hangs'),
    recovered: () => said.push('recovered'),
    givenUp: () => said.push('given up'),
  })
})

afterEach(() => {
  heartbeat.end()
  vi.useRealTimers()
})

const beat = (times: number) => vi.advanceTimersByTime(times * PINGS.everyMs)

describe('the heartbeat of a process', () => {
  test('pings once a beat whoever answers, and says nothing', () => {
    for (let n = 0; n < 40; n++) {
      beat(1)
      heartbeat.answered()
    }
    expect(said).toEqual(Array(40).fill('ping'))
  })

  test('says at the fifth ping missed that it hangs, at the thirtieth that it is given up, and ends', () => {
    beat(5)
    expect(said).toEqual(['ping'])
    beat(1)
    expect(said).toEqual(['ping', 'hangs'])
    beat(24)
    expect(said).toEqual(['ping', 'hangs'])
    beat(1)
    expect(said).toEqual(['ping', 'hangs', 'given up'])
    beat(100)
    expect(said).toHaveLength(3)
  })

  test('counts from the beginning where it answers again, which it says of one that hung', () => {
    beat(5)
    heartbeat.answered()
    beat(6)
    expect(said).toEqual(['ping', 'ping', 'hangs'])
    heartbeat.answered()
    beat(30)
    expect(said.slice(3)).toEqual(['recovered', 'ping', 'hangs'])
  })

  test('hears nothing of one that is given up, or has ended', () => {
    beat(31)
    heartbeat.answered()
    expect(said).toEqual(['ping', 'hangs', 'given up'])
  })

  test('has missed nothing while the clock went on and no process did', () => {
    beat(1)
    vi.setSystemTime(Date.now() + 3_600_000)
    beat(1)
    expect(said).toEqual(['ping'])
  })
})
