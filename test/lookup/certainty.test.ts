import { expect, test } from 'vitest'
import { findNormalQuantile } from '#src/lookup/certainty.ts'

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
