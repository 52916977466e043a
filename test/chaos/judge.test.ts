import { expect, test } from 'vitest'
import { judge, type Outcome } from '#chaos/judge.ts'
import type { Asked, Ledger } from '#chaos/load/plan.ts'
import { verifyHistory } from '#chaos/verify.ts'

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

/** A fault that stops points for less than the points below are refused. */
const STOPS = { stops: [{ what: ['point' as const], longestMs: 206 }] }

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

test.each<[string, Parameters<typeof outcome>, string[]]>([
  [
    'the time of a fault that has its own',
    [
      [
        { ...POINT, ms: 4900 },
        { ...POINT, ms: 5100 },
      ],
      {},
      { longestMs: 5000 },
    ],
    ['late, up to 5100 ms: 1 point 200'],
  ],
  [
    'an expected status',
    [
      [
        { ...POINT, status: 500 },
        { ...REFUSED, retryAfter: false },
      ],
    ],
    ['with a status that is not expected: 1 point 500, 1 point 503'],
  ],
  ['the right values', [[{ ...POINT, wrong: '{"x":1}' }]], ['wrong: 1 point 200 ({"x":1})']],
  ['an answer in time', [[{ ...POINT, ms: 3251 }]], ['late, up to 3251 ms: 1 point 200']],
  [
    'an answer where nobody should notice the fault',
    [[REFUSED], {}, { unnoticed: ['point'] }],
    ['that nobody should notice it in: 1 point 503'],
  ],
  [
    'an answer again soon after the fault, what was kept, and few lines in the log',
    [[{ ...REFUSED, at: 16_001 }], { lost: ['a key was lost'], complaints: 31, isUp: false }],
    [
      'a key was lost',
      'requests failed for 1001 ms after it',
      '31 lines in the log',
      'the process is not up',
    ],
  ],
  [
    'answers without a long stop',
    [[POINT, { ...REFUSED, at: 10_100 }, { ...POINT, at: 10_300, ms: 7 }], {}, STOPS],
    ['point stopped for 207 ms'],
  ],
])('clients have to get %s, or the judge names a mistake', (_, asked, mistakes) => {
  expect(mistakesOf(...asked)).toEqual(mistakes)
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

const LEDGER: Ledger = {
  named: ['a', 'b', 'c', 'd'],
  kept: [
    ['1', 'a'],
    ['2', 'b'],
    ['3', 'c'],
  ],
  deleting: ['2', '3'],
  deleted: ['2'],
  rated: [['1', 4]],
  registered: [],
  keys: [],
  endedKeys: [],
}

const item = (id: string, name: string, rating?: number) => ({
  id,
  location: { name },
  feedback: rating === undefined ? null : { rating },
})

test('a history is right that has what was acknowledged, and may have what was not', () => {
  expect(verifyHistory([item('1', 'a', 4), item('3', 'c'), item('9', 'd')], LEDGER)).toEqual([])
})

test('what is lost, twice, made up, or there again is told', () => {
  expect(verifyHistory([], LEDGER)).toEqual(['kept point 1 was lost', 'the rating of 1 was lost'])
  const items = [item('1', 'a', 3), item('5', 'd'), item('6', 'd'), item('7', 'x'), item('2', 'b')]
  expect(verifyHistory(items, LEDGER)).toEqual([
    'point d is there twice',
    'nobody asked for point x',
    'kept point 2 was deleted, and is there',
    'the rating of 1 was lost',
  ])
})
