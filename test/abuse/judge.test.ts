import { expect, test } from 'vitest'
import { judge, type Outcome, reportOf } from '#abuse/judge.ts'
import type { Noticed } from '#abuse/victims/victims.ts'

const NOTICED: Noticed = { asked: 300, answered: 300, p50: 2, p99: 10, statuses: { 200: 300 } }

/** An attack that points notice so much of. */
function outcome(point: Partial<Noticed>, figures: Outcome['figures'] = []): Outcome {
  const quiet = { point: NOTICED } as Outcome['quiet']
  const attacked = { point: { ...NOTICED, ...point } } as Outcome['attacked']
  return { scenario: 'stars', database: 'server', quiet, attacked, figures }
}

test.each([
  ['nobody notices anything', {}, true],
  ['all is twice as slow, and below the time that nobody notices', { p99: 20 }, true],
  ['it is as slow as it may be', { p99: 50 }, true],
  ['it is slower than that', { p99: 51 }, false],
  ['somebody is refused', { answered: 299, statuses: { 200: 299, 503: 1 } }, false],
  ['somebody is not answered', { answered: 299, statuses: { 200: 299, 0: 1 } }, false],
])('where %s, an attack on points passes or not: %o', (_, noticed, pass) => {
  expect(judge(outcome(noticed))).toMatchObject([{ what: 'point', pass }])
})

test('what is slow already may be twice as slow', () => {
  const slow = { ...outcome({ p99: 80 }), quiet: { point: { ...NOTICED, p99: 40 } } as Outcome['quiet'] }
  expect(judge(slow)).toMatchObject([{ limit: 'none refused, p99 80 ms', pass: true }])
})

test('a figure may be as large as its limit', () => {
  const memory = { what: 'growth of the memory', unit: ' MiB', limit: 20 }
  const figures = [
    { ...memory, value: 20 },
    { ...memory, value: 20.1 },
  ]
  expect(judge(outcome({}, figures)).map(({ pass }) => pass)).toEqual([true, true, false])
})

test('the report is a table of Markdown, with what those were answered who were not served', () => {
  const refused = outcome({ answered: 290, statuses: { 200: 290, 503: 8, 0: 2 } })
  expect(reportOf([refused])).toBe(
    `| attack | database | what | quiet | under attack | limit |  |
| --- | --- | --- | --- | --- | --- | --- |
| stars | server | point | p50 2, p99 10 ms | p50 2, p99 10 ms; of 300: 2 not at all, 8 with 503 | none refused, p99 50 ms | FAILED |`,
  )
})
