import { Type } from 'typebox'
import { optional, ref } from './common.ts'

/** How much may be asked of a distribution. */
const MOST_QUANTILES = 20
const MOST_BINS = 100

/** What is asked of how the values in a polygon are distributed. */
export const DistributionParameters = {
  quantiles: optional(
    Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
      maxItems: MOST_QUANTILES,
      uniqueItems: true,
      description: `Quantiles of the values to answer with, from 0 to 1, ${MOST_QUANTILES} at most; in the query several times, or separated by commas.`,
      examples: [[0.1, 0.5, 0.9]],
    }),
  ),
  histogram: optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_BINS,
      description: 'Answer with a histogram of so many bins, or classes.',
      examples: [10],
    }),
  ),
}

export const Quantile = Type.Object(
  {
    quantile: Type.Number({ description: 'Which one: 0.5 is the median.' }),
    value: Type.Number({
      description:
        'The smallest value that, together with all smaller ones, has at least that part of the covered area: the inverse of the weighted distribution function (Hyndman and Fan, 1996, definition 1; `numpy.quantile` with `weights` and `method="inverted_cdf"`).',
    }),
    error: Type.Number({
      description:
        'How far the exact quantile can lie from the value, rounding aside: 0 where it is exact. A polygon with more than 4,096 tiles (16 x 16 pixels) inside is computed from the least and greatest values of some of them, and one with very many values to a small part of their range.',
    }),
  },
  { $id: 'Quantile', examples: [{ quantile: 0.5, value: 2464.18, error: 0 }] },
)

export const HistogramBin = Type.Object(
  {
    from: Type.Number(),
    to: Type.Number({
      description:
        'Values from the one to below the other; of the last bin it is the largest one. Where there are no more different values than bins, each is a class of its own: both are the value.',
    }),
    percent: Type.Number({ description: 'How much of the covered area has them.' }),
    error: Type.Number({
      description: 'How far the exact percentage can lie from it, as for quantiles; 0 where it is exact.',
    }),
  },
  { $id: 'HistogramBin', examples: [{ from: 2318, to: 2604, percent: 100, error: 0 }] },
)

/** What an entry has of a distribution, where it was asked for. */
export const DistributionMembers = {
  quantiles: Type.Optional(
    Type.Array(ref(Quantile), { description: 'In the order in which they were asked for.' }),
  ),
  histogram: Type.Optional(
    Type.Array(ref(HistogramBin), { description: 'From the smallest values to the largest.' }),
  ),
}
