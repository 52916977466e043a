import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createIncidents, type IncidentRecord } from '#src/http/plugins/logs.ts'

beforeEach(() => {
  vi.useFakeTimers({ now: BEGIN })
})
afterEach(() => {
  vi.useRealTimers()
})

const BEGIN = Date.parse('2026-07-01T06:00:00Z')

test('an incident is one line when it begins, one a minute with counts, and one when it is over', () => {
  const { fail, lines } = incidentsAndLines()
  let begun = 0
  for (let second = 0; second < 130; second++) {
    begun += fail('no database', 'points 503', 100)
    begun += fail('no database', 'a caller could not be looked up')
    vi.advanceTimersByTime(1000)
  }
  expect(begun).toBe(1)
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([
    told('goes on', 59, { 'points 503': 5999, 'a caller could not be looked up': 60 }),
    told('goes on', 119, { 'points 503': 6000, 'a caller could not be looked up': 60 }),
    told('is over', 129, { 'points 503': 13_000, 'a caller could not be looked up': 130 }),
  ])
  expect(vi.getTimerCount()).toBe(0)
})

test('after half a minute without a failure it is over, and may begin anew', () => {
  const { fail, lines } = incidentsAndLines()
  expect(fail('no database', 'points 503')).toBe(1)
  vi.advanceTimersByTime(29_000)
  expect(fail('no database', 'points 503')).toBe(0)
  vi.advanceTimersByTime(40_000)
  expect(lines).toEqual([told('is over', 29, { 'points 503': 2 })])
  expect(fail('no database', 'points 503')).toBe(1)
})

test('that nothing has failed for a while is no part of its time, neither while it goes on nor when it is over', () => {
  const { fail, lines } = incidentsAndLines()
  for (let second = 0; second <= 44; second++) {
    fail('no database', 'points 503')
    vi.advanceTimersByTime(1000)
  }
  vi.advanceTimersByTime(120_000)
  expect(lines).toEqual([
    told('goes on', 44, { 'points 503': 44 }),
    told('is over', 44, { 'points 503': 45 }),
  ])
})

test('one incident hides no other, and there are a hundred at most', () => {
  const { fail, lines, close } = incidentsAndLines()
  let begun = 0
  for (let number = 0; number < 1000; number++) begun += fail(`incident ${number}`, `failure ${number}`)
  expect(begun).toBe(101)
  close()
  expect(lines).toHaveLength(101)
  const other = lines.find(({ incident }) => incident === 'other')
  expect(Object.keys(other?.failures ?? {})).toHaveLength(101)
  expect(Object.values(other?.failures ?? {}).reduce((sum, times) => sum + times)).toBe(900)
})

test('what goes on while the service closes is told of at the end, after which nothing ticks', () => {
  const { fail, lines, close } = incidentsAndLines()
  fail('no database', 'points 503', 3)
  close()
  expect([lines, vi.getTimerCount()]).toEqual([[told('is over', 0, { 'points 503': 3 })], 0])
})

/** Incidents, and what is told of them. */
function incidentsAndLines() {
  const lines: IncidentRecord[] = []
  const incidents = createIncidents((line) => lines.push(line))
  const fail = (incident: string, failure: string, times = 1) =>
    Array.from({ length: times }, () => incidents.begins(incident, failure)).filter(Boolean).length
  return { ...incidents, lines, fail }
}

/** @param seconds from the first failure to the last */
const told = (state: IncidentRecord['state'], seconds: number, failures: Record<string, number>) => ({
  ...{ incident: 'no database', state, seconds, failures },
  last_failure: new Date(BEGIN + 1000 * seconds).toISOString(),
})
