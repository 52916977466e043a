import { randomInt } from 'node:crypto'
import type { Generated, Selectable } from 'kysely'
import { SEASONS } from '#schemas/glossary.ts'

export interface SkillTable {
  release_id: number
  level: number
  area_code: string
  n: number
  observers: number
  sum_difference: number
  sum_absolute: number
  n_range: number
  n_within: number
  n_odds: number
  sum_brier: number
  sum_rps: number
  sum_rps_climatology: number
  kept_at: Generated<Date>
}

interface Pair {
  predicted: number
  observed: number
}

/** @param pairs one at least */
export function computeScores(pairs: readonly Pair[]) {
  const count = pairs.length
  const differences = pairs.map(({ predicted, observed }) => predicted - observed)
  const meanOf = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / count
  return {
    count,
    /** Above 0 where too much is predicted. */
    bias: meanOf(differences),
    rmse: Math.sqrt(meanOf(differences.map((difference) => difference ** 2))),
    /** Single large differences change it less (Willmott and Matsuura, 2005). */
    mae: meanOf(differences.map(Math.abs)),
    /** Spearman (1904), equal values with the mean of their ranks; null where all of a side are equal. */
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

/** The scenarios that have odds, from the poorest season to the best: the RPS depends on their order. */
export const TERCILES = SEASONS.toReversed()

/** The odds of the three, which sum to 1, and the index of the one that the season was. */
export interface Season {
  odds: readonly number[]
  outcome: number
}

/** The part of each odds in their sum: rounded ones miss 1. Null where they are no odds. */
export function normalise(odds: readonly number[]): number[] | null {
  const sum = odds.reduce((total, one) => total + one, 0)
  return sum > 0 && odds.every((one) => one >= 0) ? odds.map((one) => one / sum) : null
}

/** Sum of the squared differences from what was, from 0 to 2 (Brier, 1950, in its form for several categories). */
export function brierScore({ odds, outcome }: Season): number {
  return odds.reduce((sum, one, index) => sum + (one - Number(index === outcome)) ** 2, 0)
}

/**
 * Ranked probability score: the same of cumulative odds, so that a miss by two categories costs more than by one (Epstein,
 * 1969; in the form of Murphy, 1971). From 0 to 2: it is not divided by the number of categories less one.
 */
export function rankedScore({ odds, outcome }: Season): number {
  let [cumulative, sum] = [0, 0]
  for (const [index, one] of odds.entries()) {
    cumulative += one
    sum += (cumulative - Number(index >= outcome)) ** 2
  }
  return sum
}

/** A forecast that knows the terciles of the past alone. */
const CLIMATOLOGY = TERCILES.map(() => 1 / TERCILES.length)

/** The ranked probability score of a third each. */
export function climatologyScore({ outcome }: Pick<Season, 'outcome'>): number {
  return rankedScore({ odds: CLIMATOLOGY, outcome })
}

/** RPSS: 1 for perfect odds, 0 for those as good as a third each, below 0 for worse ones. */
function skillScore(ranked: number, climatology: number): number {
  return 1 - ranked / climatology
}

export const BINS = 10

/** The bin of a probability; its lower end is in it, 1 in the last. Ends are met to a billionth, as decimals are not exact. */
export function findBin(probability: number): number {
  return Math.min(BINS - 1, Math.floor(probability * BINS + 1e-9))
}

/**
 * How well the odds of a scenario are calibrated: in each bin of odds their mean, and how often it came. `term` is the
 * reliability term of Murphy's (1973) partition of the Brier score, `sum(n (mean - frequency)^2) / sum(n)`: 0 is best.
 *
 * @param seasons one at least
 * @param scenario index in {@link TERCILES}
 */
export function computeReliability(seasons: readonly Season[], scenario: number) {
  const sums = Array.from({ length: BINS }, () => ({ count: 0, odds: 0, came: 0 }))
  for (const { odds, outcome } of seasons) {
    const probability = odds[scenario] as number
    const bin = sums[findBin(probability)] as (typeof sums)[number]
    bin.count++
    bin.odds += probability
    bin.came += Number(outcome === scenario)
  }
  const bins = sums.map(({ count, odds, came }) => ({
    count,
    forecast: count > 0 ? odds / count : null,
    observed: count > 0 ? came / count : null,
  }))
  const squares = bins.map(({ count, forecast, observed }) =>
    forecast === null || observed === null ? 0 : count * (forecast - observed) ** 2,
  )
  return { term: squares.reduce((sum, one) => sum + one, 0) / seasons.length, bins }
}

/** The means of a list of seasons, one at least. */
export function scoreOdds(seasons: readonly Season[]) {
  const meanOf = (score: (season: Season) => number) =>
    seasons.reduce((sum, season) => sum + score(season), 0) / seasons.length
  const rps = meanOf(rankedScore)
  return {
    count: seasons.length,
    brier: meanOf(brierScore),
    rps,
    rpss: skillScore(rps, meanOf(climatologyScore)),
  }
}

/** A layer of an answer, as far as it is held against what was observed. */
export interface Prediction {
  scenario: string | null
  predicted: number
  probability?: number | null
  range?: { low: number; high: number } | null
  /** Where it is meant for, such as `foot slope`; null for all places. */
  condition?: string | null
}

/** What was seen at a place. */
export interface Seen {
  observed: number
  /** What the season was, where it is known otherwise. */
  season?: string | undefined
}

const isNamed = (name: string | null | undefined, text: string) =>
  name?.trim().toLowerCase() === text.trim().toLowerCase()

/** The predictions for a place; none where they are for several conditions. */
export function selectPredictions<One extends Prediction>(predictions: readonly One[]): One[] {
  const conditions = new Set(predictions.flatMap(({ condition }) => condition ?? []))
  return conditions.size > 1 ? [] : [...predictions]
}

/** The scored parts of an observation, beside the values of its scenarios. */
export interface Judgement {
  /** The value of the most likely scenario, and what came. */
  pair: Pair
  /** Whether the observation lies in the range of that value, ends included; null without one. */
  within: boolean | null
  /** Null without odds, and where nothing says what the season was. */
  season: Season | null
  /** Whether the season was named, not found by the nearest value. */
  isSeasonNamed: boolean
}

/** @param predictions one at least, of one condition */
export function judge(predictions: readonly Prediction[], { observed, season }: Seen): Judgement {
  const terciles = TERCILES.map((name) => predictions.find(({ scenario }) => scenario === name))
  const odds = readOdds(terciles)
  const main = findLikeliest(predictions, terciles, odds)
  const outcome = odds && findOutcome(terciles, observed, season)
  const { predicted, range } = main
  return {
    pair: { predicted, observed },
    within: range ? range.low <= observed && observed <= range.high : null,
    season: odds && typeof outcome === 'number' ? { odds, outcome } : null,
    isSeasonNamed: season !== undefined,
  }
}

/** The odds, where each of the three has one. */
function readOdds(terciles: readonly (Prediction | undefined)[]): number[] | null {
  const odds = terciles.flatMap((one) => one?.probability ?? [])
  return odds.length === TERCILES.length ? normalise(odds) : null
}

/** The order in which equally likely scenarios are taken, as indices. */
const TIES = [1, 0, 2]

/** By odds, or else the dominant, the normal or the first one. */
function findLikeliest(
  predictions: readonly Prediction[],
  terciles: readonly (Prediction | undefined)[],
  odds: readonly number[] | null,
): Prediction {
  const likeliest = odds && TIES.find((index) => odds[index] === Math.max(...odds))
  const named = (name: string) => predictions.find(({ scenario }) => scenario === name)
  const byOdds = typeof likeliest === 'number' ? terciles[likeliest] : undefined
  return byOdds ?? named('Dominant') ?? named('Normal') ?? (predictions[0] as Prediction)
}

/** The index of a season by its name, in any case. */
export function readSeason(text: string): number | undefined {
  const index = TERCILES.findIndex((name) => isNamed(name, text))
  return index < 0 ? undefined : index
}

/** The index of the season that was named, or of the one whose value is nearest; undefined where two are as near. */
function findOutcome(
  terciles: readonly (Prediction | undefined)[],
  observed: number,
  season: string | undefined,
): number | undefined {
  if (season !== undefined) return readSeason(season)
  const distances = terciles.flatMap((one) => (one ? [Math.abs(one.predicted - observed)] : []))
  const least = Math.min(...distances)
  const nearest = distances.flatMap((distance, index) => (distance === least ? [index] : []))
  return distances.length === TERCILES.length && nearest.length === 1 ? nearest[0] : undefined
}

/** Sums over observations, which add up over areas and releases. */
export type SkillSums = Omit<
  Selectable<SkillTable>,
  'release_id' | 'level' | 'area_code' | 'observers' | 'kept_at'
>

/** @param counted whether ranges and odds may be shown, too */
export function sumSkill(
  all: readonly Judgement[],
  counted: { range: boolean; odds: boolean } = { range: true, odds: true },
): SkillSums {
  const sumOf = <One>(list: readonly One[], number: (one: One) => number) =>
    list.reduce((sum, one) => sum + number(one), 0)
  const ranged = counted.range ? all.filter(({ within }) => within !== null) : []
  const seasons = counted.odds ? all.flatMap(({ season }) => season ?? []) : []
  return {
    n: all.length,
    sum_difference: sumOf(all, ({ pair }) => pair.predicted - pair.observed),
    sum_absolute: sumOf(all, ({ pair }) => Math.abs(pair.predicted - pair.observed)),
    n_range: ranged.length,
    n_within: ranged.filter(({ within }) => within).length,
    n_odds: seasons.length,
    sum_brier: sumOf(seasons, brierScore),
    sum_rps: sumOf(seasons, rankedScore),
    sum_rps_climatology: sumOf(seasons, climatologyScore),
  }
}

/** A draw of the distribution of Laplace of scale 1. @param share from 0 to 1, each as likely, both ends excluded */
export function laplace(share: number): number {
  return share < 0.5 ? Math.log(2 * share) : -Math.log(2 - 2 * share)
}

/** Of the system's secure source: it does not follow from other draws. */
const drawNoise = () => laplace((randomInt(2 ** 47) + 0.5) / 2 ** 47)

/** Noisy sums are whole multiples of such a part of their noise: the last bits of a float would show what was added. */
const GRID = 1024

/** Of the noise of scores, and of how many lay in the range: a score is 2 at most. */
const NOISE_OF_SCORES = 2

/**
 * Sums that may be stored, each with noise of the size of an observation, which stays in them. Differences
 * above 0 and those below have noise of their own, so that an observation changes one of the two. The score of a third
 * each needs none: it is shown as a part of one that has noise.
 *
 * @param all one at least; harvests count up to the largest prediction beyond their own
 */
export function blurSkill(all: readonly Judgement[], draw = drawNoise): SkillSums {
  const largest = all.reduce((most, { pair }) => Math.max(most, pair.predicted), 0)
  const bounded = all.map(({ pair: { predicted, observed }, ...one }) => ({
    ...one,
    pair: { predicted, observed: Math.min(observed, predicted + largest) },
  }))
  const sums = sumSkill(bounded)
  const blur = (sum: number, size: number) =>
    size > 0 ? (Math.round((sum / size + draw()) * GRID) / GRID) * size : 0
  const above = blur((sums.sum_absolute + sums.sum_difference) / 2, largest)
  const below = blur((sums.sum_absolute - sums.sum_difference) / 2, largest)
  const ofOdds = sums.n_odds && NOISE_OF_SCORES
  return {
    ...sums,
    sum_difference: above - below,
    sum_absolute: above + below,
    n_within: Math.round(blur(sums.n_within, sums.n_range && NOISE_OF_SCORES)),
    sum_brier: blur(sums.sum_brier, ofOdds),
    sum_rps: blur(sums.sum_rps, ofOdds),
  }
}

/** Figures for everybody, without the digits that are noise. */
export function roundSkill(sums: SkillSums) {
  const { n, bias, mae, within, rpss } = describeSkill(sums)
  const round = (figure: number) => Number(figure.toPrecision(2)) + 0
  return {
    ...{ n: round(n), bias: round(bias), mae: round(mae) },
    within: within && round(within.share),
    rpss: rpss === null ? null : round(rpss),
  }
}

/** The figures of sums, within the bounds of exact ones; null where none had a range, or odds. */
export function describeSkill(sums: SkillSums) {
  const { n, n_range, n_odds } = sums
  const bias = sums.sum_difference / n
  const share = Math.min(Math.max(sums.n_within / n_range, 0), 1)
  return {
    n,
    bias,
    mae: Math.max(sums.sum_absolute / n, Math.abs(bias)),
    within: n_range > 0 ? { count: n_range, share } : null,
    brier: n_odds > 0 ? Math.max(sums.sum_brier, 0) / n_odds : null,
    rpss: n_odds > 0 ? skillScore(Math.max(sums.sum_rps, 0), sums.sum_rps_climatology) : null,
  }
}
