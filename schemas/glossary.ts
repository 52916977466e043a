/** The meanings of words in answers, for the catalog and the document. No meaning is guessed. */

/** The scenarios that releases are usually for, in the order of answers. Sources may publish others. */
export const SCENARIOS: readonly { scenario: string; description: string }[] = [
  {
    scenario: 'Above Normal',
    description:
      'The season turns out above normal: in the upper third (tercile) of past seasons, as seasonal outlooks count them. The source publishes the measure, rainfall as a rule.',
  },
  {
    scenario: 'Normal',
    description: 'The season turns out normal: in the middle third of past seasons.',
  },
  {
    scenario: 'Below Normal',
    description: 'The season turns out below normal: in the lower third of past seasons.',
  },
  {
    scenario: 'Dominant',
    description:
      'The most likely of the other three seasons at each place. Each pixel has the value of that season; the mean of an area may mix several. The source of the release decides which season is most likely.',
  },
]

/** The scenarios that restate a season which another one is about: beside the others they have no weight. */
export const RESTATING_SCENARIOS: readonly string[] = ['Dominant']

/** The scenarios that one of each season is: their odds sum to 1. From the best season to the worst. */
export const SEASONS: readonly string[] = SCENARIOS.map(({ scenario }) => scenario).filter(
  (scenario) => !RESTATING_SCENARIOS.includes(scenario),
)

/** The scenario of an expected value. */
export const EXPECTED = 'Mean by odds'

/** How far odds may be from 1 in sum: published ones are rounded. */
export const ODDS_TOLERANCE = 0.02

/** Odds are said as years of so many. */
export const ODDS_YEARS = 10

/** Odds are counted in billionths: their sums and remainders are exact. */
const WHOLE = 1e9

/** The seasons, of which the first of equals is rounded up. */
const ORDER = ['Normal', 'Below Normal', 'Above Normal']

/**
 * Odds as whole years of ten by largest remainder. Together they are ten, and each is less than a year from its share. Of
 * equal remainders the greater odds are rounded up, then those of Normal, Below Normal, Above Normal.
 *
 * Odds that lack a season leave the rest of the years to it. Each is rounded by itself where they sum to more than 1, and
 * where a scenario restates another one.
 *
 * @param odds of all scenarios, which several inputs may repeat
 */
export function countYears(
  odds: Iterable<readonly [scenario: string, probability: number]>,
): Map<string, number> {
  const all = [...new Map(odds)].map(([scenario, odds]) => ({ scenario, part: Math.round(WHOLE * odds) }))
  const years = new Map(all.map(({ scenario, part }) => [scenario, Math.round((ODDS_YEARS * part) / WHOLE)]))
  const parts = all.filter(({ scenario }) => !RESTATING_SCENARIOS.includes(scenario))
  const sum = parts.reduce((all, { part }) => all + part, 0)
  if (sum > WHOLE * (1 + ODDS_TOLERANCE)) return years
  const total = sum < WHOLE * (1 - ODDS_TOLERANCE) ? WHOLE : sum
  const shares = [...parts, { scenario: null, part: total - sum }].map(({ scenario, part }) => ({
    ...{ scenario, part, rest: (ODDS_YEARS * part) % total },
    rank: ORDER.indexOf(scenario ?? '') >>> 0,
  }))
  shares.sort((a, b) => b.rest - a.rest || b.part - a.part || a.rank - b.rank)
  let left = shares.reduce((sum, { rest }) => sum + rest, 0) / total
  for (const { scenario, part } of shares) {
    if (scenario !== null) years.set(scenario, Math.floor((ODDS_YEARS * part) / total) + Number(left > 0))
    left--
  }
  return years
}

export const FORECAST_MONTH =
  'The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source.'

const SEASON =
  'The growing season that a forecast is about. Which months it has in a country, and which past seasons it is compared with, is as published by the source.'

export const RESOLUTION =
  'The size of a pixel. A point has the value of its pixel, so answers do not distinguish places within a pixel.'

export const SYNTHETIC = 'Whether the release is demonstration data, made by a formula. Not advice.'

export const LOSSY =
  'True where its rasters were compressed with loss, such as JPEG, else left out: values may differ from the source.'

export const STALE =
  'True where the release is older than its season, else left out. The source publishes the end of validity; by default it is a year after the forecast month. Demonstration data are never stale.'

/** Words that no list has; the names are those of members of answers, where there is one. */
export const GLOSSARY: readonly { term: string; description: string }[] = [
  { term: 'forecast_month', description: FORECAST_MONTH },
  { term: 'season', description: SEASON },
  { term: 'resolution', description: RESOLUTION },
  { term: 'synthetic', description: SYNTHETIC },
  { term: 'stale', description: STALE },
]
