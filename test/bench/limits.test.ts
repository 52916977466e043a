import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { judge } from '#bench/limits.ts'
import { performancePage } from '#bench/report/page.ts'
import { allTables } from '#bench/report/tables.ts'
import type { Call, PointsResult, Results } from '#bench/results.ts'

const published: Results = JSON.parse(
  readFileSync(new URL('../../docs/performance/results.json', import.meta.url), 'utf8'),
)
const points = published.points as PointsResult
const MEMORY = 'points/s of the bare route, tiles in memory'

/** Results in which the service with its tiles in memory does so many points/s of the bare route. */
function withMemory(rateToBare: number): Results {
  const cells = points.cells.map((cell) =>
    cell.target === 'memory' && cell.spread === 'uniform' && cell.connections === 64
      ? { ...cell, rateToBare }
      : cell,
  )
  return { ...published, points: { ...points, cells } }
}

const verdictOf = (results: Results, wanted: string) => judge(results).find(({ what }) => what === wanted)

test('a limit is missed below it, a goal is not met from there on, and both are met above', () => {
  const bounds = { what: MEMORY, limit: 'at least 0.75', goal: 'at least 0.85' }
  const cases = [
    [0.7499, 'MISSED', '0.75'],
    [0.75, 'goal not met', '0.75'],
    [0.8499, 'goal not met', '0.85'],
    [0.85, 'met', '0.85'],
    [Number.NaN, 'MISSED', 'none'],
  ] as const
  for (const [rate, verdict, measured] of cases) {
    expect(verdictOf(withMemory(rate), MEMORY)).toEqual({ ...bounds, measured, verdict })
  }
})

const callOf = (call: Call, rateToAnonymous: number) => ({
  call,
  rate: 9000 * rateToAnonymous,
  p50: 7,
  p99: 12.34,
  rateToRaw: 0.72 * rateToAnonymous,
  rateToBare: 0.8 * rateToAnonymous,
  rateToAnonymous,
})

/** Results with every section that may be left out. */
const whole: Results = {
  ...published,
  points: { ...points, cold: points.cold.map((cold) => ({ ...cold, rateToWarm: 0.5 })) },
  calls: {
    connections: 64,
    rows: [callOf('raw', 1.4), callOf('anonymous', 1), callOf('key', 0.61), callOf('location', 0.05)],
    allProductsCost: 0.77,
  },
  workers: {
    rows: [
      { workers: 1, rate: 20_000, p50: 3, p99: 6, rateToOne: 1, generatorLoad: 0.4 },
      { workers: 2, rate: 26_000, p50: 2, p99: 5, rateToOne: 1.3, generatorLoad: 0.5 },
    ],
    costs: [
      { workers: 1, cpu: 40, cpuToOne: 1 },
      { workers: 2, cpu: 42, cpuToOne: 1.05 },
      { workers: 4, cpu: 47, cpuToOne: 1.16 },
    ],
  },
  publication: {
    seconds: 10,
    before: { rate: 20_000, p50: 3, p99: 6 },
    after: { rate: 19_000, p50: 3, p99: 15 },
    p99ToBefore: 2.5,
  },
  bulk: { areas: 92, areasCold: 1900, areasWarm: 300, fields: 1000, fieldsCold: 4000 },
  history: {
    small: { items: 20_000, itemsOfAccount: 5000, months: 28, gigabytes: 0.007 },
    large: { items: 20_000_000, itemsOfAccount: 5_000_000, months: 28, gigabytes: 7 },
    rows: [
      { what: 'first page', small: 8, large: 12, times: 1.5 },
      { what: 'item', small: 2, large: 3.02, times: 1.51 },
      { what: 'statistics of all', small: 2, large: 200, times: 100 },
    ],
    reads: [
      { what: 'first page', small: 101, large: 101, times: 1 },
      { what: 'item', small: 2, large: 2.5, times: 1.25 },
    ],
  },
}

test('what is a goal alone is met or not, and never missed', () => {
  const goals = judge(whole).filter(({ limit }) => limit === null)
  expect(goals.map(({ what, goal, measured, verdict }) => [what, goal, measured, verdict])).toEqual([
    [
      'points/s in the first 3 seconds of a ready process, of the same process warm',
      'at least 0.6',
      '0.5',
      'goal not met',
    ],
    ['points/s with a key, kept in the history, of anonymous ones', 'at least 0.6', '0.61', 'met'],
    ['calls/s of /validate_location, of anonymous points', 'at least 0.5', '0.05', 'goal not met'],
    ['cost of a call for all products, of a call for each', 'at most 0.6', '0.77', 'goal not met'],
    ['points/s of two workers, of one', 'at least 1.2', '1.3', 'met'],
    ['p99 in the 10 seconds after a publication, of before', 'at most 2 times', '2.5 times', 'goal not met'],
    ['92 zones in one call, for the first time', 'at most 2,000 ms', '1,900 ms', 'met'],
    ['92 zones in one call, again', 'at most 200 ms', '300 ms', 'goal not met'],
    [
      'statistics of all, with 20,000,000 items in histories, of 20,000',
      'at most 1.5 times',
      '100 times',
      'goal not met',
    ],
  ])
})

test('each further worker may add a twentieth to the CPU of a point', () => {
  const verdicts = judge(whole).filter(({ what }) => what.startsWith('CPU'))
  expect(verdicts).toMatchObject([
    { what: 'CPU a point with 2 workers, of one', limit: 'at most 1.05 times', verdict: 'met' },
    { what: 'CPU a point with 4 workers, of one', limit: 'at most 1.15 times', verdict: 'MISSED' },
  ])
})

test('whatever is asked of a large history has a limit', () => {
  const verdicts = judge(whole).filter(({ what }) => what.includes('histories'))
  const bounds = { limit: 'at most 1.5 times', goal: null }
  const of = 'with 20,000,000 items in histories, of 20,000'
  expect(verdicts).toEqual([
    { what: `first page, ${of}`, ...bounds, measured: '1.5 times', verdict: 'met' },
    { what: `item, ${of}`, ...bounds, measured: '1.51 times', verdict: 'MISSED' },
    {
      what: `statistics of all, ${of}`,
      limit: null,
      goal: 'at most 1.5 times',
      measured: '100 times',
      verdict: 'goal not met',
    },
    { what: `most items that a statement reads, ${of}`, ...bounds, measured: '1.25 times', verdict: 'met' },
  ])
})

test('what was left out has no verdict and no table', () => {
  const { at, mode, machine, loadBefore, data, generatorLoad, problems } = published
  const bare: Results = { at, mode, machine, loadBefore, data, generatorLoad, problems }
  expect([judge(bare), allTables(bare)]).toEqual([[], []])
})

test('the page shows every table of a run that no line stands for', () => {
  const page = performancePage(whole)
  const told = /^(Workers|CPU a point|A publication|Many polygons)/
  for (const { title, head, rows } of allTables(whole)) {
    // A line has the last figures of its table.
    if (told.test(title)) expect(page, title).toContain(rows.at(-1)?.[title.startsWith('Many') ? 2 : 1])
    else if (!title.startsWith('Items that')) {
      for (const cells of [head, ...rows]) expect(page, title).toContain(`| ${cells.join(' | ')} |`)
    }
  }
})

test('the page of figures is what the published results make, and names no path of the machine', () => {
  const page = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8')
  expect(page).toBe(performancePage(published))
  expect(page).not.toMatch(/\/(tmp|home|root|work|var|Users)\b/)
})

test('the page says whether the machine was quiet', () => {
  const pageAt = (loadBefore: number) => performancePage({ ...published, loadBefore })
  expect(pageAt(0.5)).toContain('\nThe machine was quiet: load 0.5 on 2 cores in the minute before.\n')
  expect(pageAt(0.51)).toContain(
    '\n> **The machine was busy with other work** (load 0.51 on 2 cores in the minute before)',
  )
  expect(pageAt(0.51)).not.toContain('quiet')
})
