import { describe, expect, test } from 'vitest'
import { judge, longestStop, type Outcome } from '#chaos/judge.ts'
import type { Asked } from '#chaos/load/plan.ts'
import { reportOf } from '#chaos/report.ts'

const POINT: Asked = { what: 'point', at: 10_000, ms: 5, status: 200, retryAfter: false, byService: true }
const REFUSED: Asked = { ...POINT, status: 503, retryAfter: true }

/** A fault from 10 to 15 s, in which this was asked. */
function outcome(
  asked: Asked[],
  rest: Partial<Outcome> = {},
  fault: Partial<Outcome['fault']> = {},
): Outcome {
  return {
    fault: {
      name: 'cut',
      on: 'server',
      happens: 'connections are cut',
      unnoticed: [],
      recoveryMs: 1000,
      ...fault,
    },
    from: 10_000,
    to: 15_000,
    asked,
    publications: [],
    lost: [],
    acknowledged: 1,
    complaints: 2,
    isUp: true,
    ...rest,
  }
}

const mistakesOf = (...parameters: Parameters<typeof outcome>) => judge(outcome(...parameters)).mistakes

test('what is right, or refused until the database is back, is no mistake', () => {
  expect(judge(outcome([POINT, REFUSED, { ...REFUSED, at: 15_900 }]))).toEqual({
    requests: 3,
    right: 1,
    refused: 2,
    unanswered: 0,
    slowest: 5,
    recoveredMs: 900,
    mistakes: [],
  })
})

test.each<[string, Asked]>([
  ['a 500', { ...POINT, status: 500 }],
  ['a 503 that does not say when to come again', { ...REFUSED, retryAfter: false }],
  ['no answer', { ...POINT, status: 0 }],
  ['a session that ended at once', { ...POINT, what: 'refresh', status: 401 }],
])('%s is a status that is not expected', (_, asked) => {
  expect(mistakesOf([{ ...POINT, what: 'refresh', at: 9000 }, asked])).toEqual([
    `with a status that is not expected: 1 ${asked.what} ${asked.status}`,
  ])
})

test('no answer is what there may be while the process is away', () => {
  expect(mistakesOf([{ ...POINT, status: 0, ms: 15_000 }], {}, { endsProcess: true })).toEqual([])
})

test('a wrong answer is a mistake, whatever happens', () => {
  expect(mistakesOf([{ ...POINT, wrong: '{"x":1}' }])).toEqual(['wrong: 1 point 200 ({"x":1})'])
})

test('what is late is a mistake, polygons later than others', () => {
  const polygon = { ...POINT, what: 'polygon' as const }
  expect(
    mistakesOf([
      { ...POINT, ms: 3251 },
      { ...polygon, ms: 5400 },
    ]),
  ).toEqual(['late, up to 5400 ms: 1 point 200'])
})

test('who may not notice anything is not refused during the fault', () => {
  expect(mistakesOf([REFUSED], {}, { unnoticed: ['point'] })).toEqual([
    'that nobody should notice it in: 1 point 503',
  ])
})

test('what fails for long after the fault, is lost or fills the log is a mistake', () => {
  const rest = { lost: ['a key was lost'], complaints: 31, isUp: false }
  expect(mistakesOf([{ ...REFUSED, at: 16_001 }], rest)).toEqual([
    'a key was lost',
    'requests failed for 1001 ms after it',
    '31 lines in the log',
    'the process is not up',
  ])
})

test('a release may answer while it is published and two seconds longer, and from when its publication was begun', () => {
  const publications = [
    { code: 'first', from: 0, done: 1 },
    { code: 'second', from: 11_000, done: 11_100 },
  ]
  const answered = (at: number, release: string) => ({ ...POINT, at, release })
  const right = [answered(13_100, 'first'), answered(10_995, 'second'), answered(13_101, 'other')]
  expect(mistakesOf(right, { publications })).toEqual([])
  const wrong = [answered(13_101, 'first'), answered(10_994, 'second')]
  expect(mistakesOf(wrong, { publications })).toEqual(['of a release that was not published: 2 point 200'])
})

test('behind a replica a release may answer for as long as it may be behind', () => {
  const publications = [
    { code: 'first', from: 0, done: 1 },
    { code: 'second', from: 11_000, done: 11_100 },
  ]
  const answered = (at: number) => [{ ...POINT, at, release: 'first' }]
  expect(mistakesOf(answered(14_100), { publications }, { on: 'replica' })).toEqual([])
  expect(mistakesOf(answered(14_101), { publications }, { on: 'replica' })).toHaveLength(1)
})

test('the report is the table of the documents', () => {
  expect(reportOf([outcome([POINT, REFUSED]), outcome([POINT], { lost: ['a key was lost'] })])).toBe(
    `| fault | database | requests | right | refused | unanswered | slowest | well again after | acknowledged | what was not right |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| \`cut\` | server | 2 | 1 | 1 | 0 | 5 ms | 0 ms | 1 | |
| \`cut\` | server | 1 | 1 | 0 | 0 | 5 ms | 0 ms | 1 | a key was lost |`,
  )
})

/** Points that were asked for at these times, answered 200 after so long, or refused. */
function asked(...points: [at: number, ms: number, status?: number][]): Asked[] {
  return points.map(([at, ms, status = 200]) => ({
    what: 'point',
    at,
    ms,
    status,
    retryAfter: true,
    byService: true,
  }))
}

describe('who asks again and again', () => {
  test.each<[string, Asked[], number]>([
    ['waits for the slowest answer', asked([0, 5], [100, 40], [200, 5]), 40],
    [
      'waits from the first refusal to the next answer',
      asked([0, 5], [100, 3, 503], [200, 3, 503], [300, 7]),
      207,
    ],
    ['is answered by a later request before an earlier one', asked([0, 3000], [100, 20]), 120],
    ['has no answer to what is worked on, and waits no longer for it', asked([0, 1, 409], [50, 10]), 10],
    ['waits for ever where no answer comes any more', asked([0, 5], [100, 3, 503]), Number.POSITIVE_INFINITY],
  ])('%s', (_, list, ms) => {
    expect(longestStop(list, ['point'])).toBe(ms)
  })

  test('takes no wrong answer for one', () => {
    const [wrong, right] = asked([0, 5], [100, 5]) as [Asked, Asked]
    expect(longestStop([{ ...wrong, wrong: 'other values' }, right], ['point'])).toBe(105)
  })

  test('waits for longer than a fault allows: that is a mistake', () => {
    const mistakesWithin = (longestMs: number) =>
      mistakesOf(asked([0, 5], [100, 3, 503], [300, 7]), {}, { stops: [{ what: ['point'], longestMs }] })
    expect(mistakesWithin(207)).toEqual([])
    expect(mistakesWithin(206)).toEqual(['point stopped for 207 ms'])
  })
})
