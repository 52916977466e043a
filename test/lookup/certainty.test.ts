import { expect, test } from 'vitest'
import {
  type Certainty,
  describeEntry,
  figuresOfPoint,
  findNormalQuantile,
  prepareCertainty,
} from '#src/lookup/certainty.ts'
import type { Companion, Layer } from '#src/lookup/layers.ts'

// As R 4.3 prints qnorm with 15 digits.
test.each([
  [0.5, 0],
  [0.9, 1.2815515655446],
  [0.1, -1.2815515655446],
  [0.975, 1.95996398454005],
  [0.001, -3.09023230616781],
  [0.999999, 4.7534243088229],
])('the normal quantile of %d is that of R', (probability, quantile) => {
  expect(findNormalQuantile(probability)).toBeCloseTo(quantile, 10)
})

test.each([
  [1, { range: { low: 98.72, high: 101.28, level: 0.8 } }],
  [Number.MAX_VALUE, {}],
])('a range by a deviation of %d has ends that JSON can have, or is left out', (deviation, said) => {
  const band = { input: null, scenario: 'Normal', condition: null, decimals: 2 }
  const layers = [{ ...band, probability: null, range: [0.1, 0.9] }] as unknown as Layer[]
  const companions = [{ ...band, role: 'stddev' }] as unknown as Companion[]
  const release = { layers, companions, conditions: null }
  const certainty = prepareCertainty({ plausible: { minimum: 0, maximum: 1e6, largestFrom: 1 } }, release)
  expect(describeEntry(certainty as Certainty, 0, figuresOfPoint([100, deviation]))).toEqual(said)
})
