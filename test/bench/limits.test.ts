import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { judge } from '#bench/limits.ts'
import { performancePage } from '#bench/report/page.ts'
import type { PointsResult, Results } from '#bench/results.ts'

const published: Results = JSON.parse(
  readFileSync(new URL('../../docs/performance/results.json', import.meta.url), 'utf8'),
)

const MEMORY = 'points/s of the bare route, tiles in memory'

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
    expect(judge(withMemory(rate)).find(({ what }) => what === MEMORY)).toEqual({
      ...bounds,
      measured,
      verdict,
    })
  }
})

test('the page of figures is what the published results make, and names no path of the machine', () => {
  const page = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8')
  expect(page).toBe(performancePage(published))
  expect(page).not.toMatch(/\/(tmp|home|root|work|var|Users)\b/)
})

const points = published.points as PointsResult

/** Results in which the service with its tiles in memory does so many points/s of the bare route. */
function withMemory(rateToBare: number): Results {
  const cells = points.cells.map((cell) =>
    cell.target === 'memory' && cell.spread === 'uniform' && cell.connections === 64
      ? { ...cell, rateToBare }
      : cell,
  )
  return { ...published, points: { ...points, cells } }
}
