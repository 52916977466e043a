import { expect, test } from 'vitest'
import { growthOf, type Sample, slope, soakReport } from '#chaos/soak-figures.ts'

const HOUR_MS = 3_600_000
const BOUND = { figure: 'held memory', unit: 'MiB', perHour: 8, noise: 2 }

/** Samples of an hour, one every six minutes. */
function samples(valueAt: (hours: number) => number): Sample[] {
  return Array.from({ length: 11 }, (_, index) => ({
    at: (index / 10) * HOUR_MS,
    values: { 'held memory': valueAt(index / 10) },
  }))
}

test('a line has the slope of what grows evenly, and none of what comes and goes', () => {
  expect(slope([0, 1, 2, 3], [5, 7, 9, 11])).toBe(2)
  expect(slope([0, 1, 2], [4, 9, 4])).toBe(0)
})

test('what grows while a service gets warm does not count, and what goes on growing does', () => {
  const warm = samples((hours) => Math.min(hours, 0.5) * 100)
  expect(growthOf(warm, [BOUND])).toMatchObject([{ first: 0, last: 50, grown: 0, pass: true }])
  const [growth] = growthOf(
    samples((hours) => hours * 10),
    [BOUND],
  )
  expect(growth).toMatchObject({ most: 4, pass: false })
  expect(growth?.grown).toBeCloseTo(5)
})

test('however short the time is, what comes and goes is allowed for', () => {
  const short = samples((hours) => hours * 10).map(({ at, values }) => ({ at: at / 100, values }))
  const [growth] = growthOf(short, [{ ...BOUND, noise: 5.1 }])
  expect(growth).toMatchObject({ most: 5.1, pass: true })
})

test('the report is a table of Markdown', () => {
  const growth = { ...BOUND, first: 40, last: 42, grown: 0.52, anHour: 1.04, most: 4, pass: true }
  expect(soakReport([growth])).toBe(
    `| figure | at first | at last | grown in the second half | may grow by | |
| --- | --- | --- | --- | --- | --- |
| held memory | 40.0 MiB | 42.0 MiB | 0.5 MiB | 4.0 MiB | passed |`,
  )
})
