import fc from 'fast-check'
import { expect, test } from 'vitest'
import { classesOf, colorIn } from '../../../web/map/legend.ts'

const COLORS = ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725']

test('classes have about as many values each, and short ends', () => {
  const values = Array.from({ length: 100 }, (_, at) => 1501 + 10 * at)
  expect(classesOf(values)).toEqual(
    [1500, 1700, 1900, 2100, 2300].map((from, at) => ({
      from,
      to: [1700, 1900, 2100, 2300, 2500][at],
      color: COLORS[at],
    })),
  )
})

test.each<[string, number[], number[][]]>([
  ['no value', [], []],
  ['one value', [3], [[3, 3]]],
  [
    'two values',
    [1, 2],
    [
      [1, 2],
      [2, 2],
    ],
  ],
  ['one value that most have', [5, 5, 5, 5, 5, 5, 5, 5, 9], [[5, 9]]],
])('%s', (_, values, ends) => {
  expect(classesOf(values).map(({ from, to }) => [from, to])).toEqual(ends)
})

test('a value that is not there has a colour of its own', () => {
  const classes = classesOf([1, 2, 3])
  expect([null, undefined].map((none) => colorIn(classes, none))).toEqual(['#888888', '#888888'])
})

test('every class has a value, every value lies in its class, and classes meet', () => {
  const value = fc.double({ min: -1e6, max: 1e6, noNaN: true })
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 50 }), (values) => {
      const classes = classesOf(values)
      const used = new Set(values.map((one) => colorIn(classes, one)))
      expect(used.size).toBe(classes.length)
      for (const one of values) {
        const { from = Infinity, to = -Infinity } =
          classes.find(({ color }) => color === colorIn(classes, one)) ?? {}
        expect(from <= one && one <= to).toBe(true)
      }
      for (const [at, { to }] of classes.slice(0, -1).entries()) expect(to).toBe(classes[at + 1]?.from)
    }),
  )
})
