/** What was predicted, and what was observed there. */
export interface Pair {
  predicted: number
  observed: number
}

/** How well predictions come up to observations. */
export interface Scores {
  count: number
  /** The mean of predicted minus observed: above 0 where too much is predicted. */
  bias: number
  /** The square root of the mean of the squares of these differences. */
  rmse: number
  /** The mean of their sizes, which single large ones change less (Willmott and Matsuura, 2005). */
  mae: number
  /**
   * Whether what is predicted higher is higher: the correlation of the ranks (Spearman, 1904), equal values having the
   * mean of their ranks. Null where all predictions or all observations are equal.
   */
  rank_correlation: number | null
}

/** @param pairs one at least */
export function scoresOf(pairs: readonly Pair[]): Scores {
  const count = pairs.length
  const differences = pairs.map(({ predicted, observed }) => predicted - observed)
  const meanOf = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / count
  return {
    count,
    bias: meanOf(differences),
    rmse: Math.sqrt(meanOf(differences.map((difference) => difference ** 2))),
    mae: meanOf(differences.map(Math.abs)),
    rank_correlation: rankCorrelation(pairs),
  }
}

/** Twice the rank of each number, from 2: whole numbers also where equal ones share the mean of theirs. */
function doubledRanks(numbers: readonly number[]): number[] {
  const order = numbers
    .map((_, index) => index)
    .sort((a, b) => (numbers[a] as number) - (numbers[b] as number))
  const ranks = new Array<number>(numbers.length)
  for (let first = 0; first < order.length; ) {
    let last = first
    while (
      last + 1 < order.length &&
      numbers[order[last + 1] as number] === numbers[order[first] as number]
    ) {
      last++
    }
    for (let at = first; at <= last; at++) ranks[order[at] as number] = first + last + 2
    first = last + 1
  }
  return ranks
}

/** Sums of whole numbers, which are exact up to 100,000 pairs. */
function rankCorrelation(pairs: readonly Pair[]): number | null {
  // Around their mean, which is that of the numbers from 1 on.
  const center = pairs.length + 1
  const one = doubledRanks(pairs.map(({ predicted }) => predicted)).map((rank) => rank - center)
  const other = doubledRanks(pairs.map(({ observed }) => observed)).map((rank) => rank - center)
  const products = (a: number[], b: number[]) =>
    a.reduce((sum, rank, index) => sum + rank * (b[index] as number), 0)
  const [ofOne, ofOther] = [products(one, one), products(other, other)]
  if (ofOne === 0 || ofOther === 0) return null
  return products(one, other) / Math.sqrt(ofOne) / Math.sqrt(ofOther)
}
