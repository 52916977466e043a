import { type Static, Type } from 'typebox'
import { MAX_LEVEL } from '#schemas/areas.ts'
import * as t from '#schemas/common.ts'
import type { MemberSchemas } from '#schemas/point-request.ts'

declare module '#schemas/point-request.ts' {
  interface PointRequest {
    skill?: boolean
  }
}

const Skill = t.component(
  'Skill',
  'How well forecasts of the series have done: the value of the most likely scenario against observations of the area, or else of the country. Noise hides single ones.',
  {
    n: t.integer('How many observations, 30 at least.'),
    bias: t.number('The mean of predicted minus observed, in the unit of values.'),
    mae: t.number('The mean of the sizes of these differences.'),
    within: Type.Optional(t.number('How many observations lay in the range, from 0 to 1.')),
    rpss: Type.Optional(
      t.number('Ranked probability skill score of the odds: 1 is best, 0 as good as a third each.'),
    ),
    of: t.string('The area, the crop and the years.'),
  },
  { n: 410, bias: -120, mae: 340, within: 0.78, rpss: 0.12, of: 'ETH-04, wheat, 2023 to 2025' },
)
export type Skill = Static<typeof Skill>

export const skillSchemas: MemberSchemas = {
  name: 'skill',
  of: 'products',
  field: t.boolean('Whether the answer says how well such forecasts have done at the place (`skill`).'),
  schema: t.orNull(
    t.ref(Skill),
    'Where the request has `skill: true`. Null for demonstration data and with fewer than 30 observations.',
  ),
  components: [Skill],
  changes: true,
}

/** Districts, in most countries. */
export const SCORECARD_DEFAULTS = { level: 2 } as const

export const ScorecardParams = Type.Object({
  code: t.text(
    200,
    'The code of a release that is complete, published or not.',
    'synthetic-yield-eth-wheat-2026-07-v1',
  ),
})

export const ScorecardQuery = Type.Object({
  level: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_LEVEL,
      default: SCORECARD_DEFAULTS.level,
      description: 'Of the areas.',
    }),
  ),
})

const Scenario = t.stringOrNull('Null where the product has none.', 'Normal')

const Scores = {
  count: Type.Integer({ minimum: 1, description: 'How many observations.', examples: [128] }),
  bias: t.number('The mean of predicted minus observed: above 0 where too much is predicted.', -112.5),
  rmse: Type.Number({
    minimum: 0,
    description: 'The root of the mean square of these differences.',
    examples: [420.1],
  }),
  mae: Type.Number({ minimum: 0, description: 'The mean of their sizes.', examples: [340.7] }),
  rank_correlation: t.numberOrNull(
    'Spearman’s rank correlation of predictions and observations, from -1 to 1. Equal values have the mean of their ranks. Null where all are equal.',
    0.71,
  ),
}

const ScenarioScore = t.component('ScenarioScore', 'How well a scenario has predicted what was observed.', {
  scenario: Scenario,
  ...Scores,
})

const DistrictScore = t.component('DistrictScore', 'The same in an area.', {
  code: Type.String({ examples: ['ETH-01'] }),
  name: Type.String({ examples: ['Tigray'] }),
  scenario: Scenario,
  ...Scores,
})

const Bin = t.component('ReliabilityBin', {
  count: t.count('How many forecasts had odds in it.'),
  forecast: t.numberOrNull('Their mean; null where there are too few accounts.'),
  observed: t.numberOrNull('How often it came so, from 0 to 1.'),
})

const Reliability = t.component('Reliability', 'How well the odds of a scenario are calibrated.', {
  scenario: Type.String(),
  term: t.number('The reliability term of the Brier score (Murphy, 1973); 0 is best.'),
  bins: t.array(Bin, 'Of odds from 0 to below 0.1, and so on to 0.9 to 1.'),
})

const BRIER = 'Brier score of the three scenarios, from 0 to 2; 0 is best.'
const RPSS = 'Ranked probability skill score: 1 is best, 0 as good as a third each.'

const OddsScore = t.component('OddsScore', 'How good the odds of the three scenarios were.', {
  count: Type.Integer({ minimum: 1, description: 'How many observations.' }),
  told: t.count('Of these, how many seasons a file has told. The others are the nearest value.'),
  brier: t.number(BRIER),
  rps: t.number('Ranked probability score, from 0 to 2; 0 is best.'),
  rpss: t.number(RPSS),
  reliability: Type.Array(t.ref(Reliability)),
})

const Figures = {
  n: Type.Integer({ minimum: 1, description: 'How many observations.' }),
  bias: t.number('The mean of predicted minus observed, of the most likely scenario.'),
  mae: Type.Number({ minimum: 0, description: 'The mean of the sizes.' }),
}
const FurtherFigures = {
  within: t.orNull(
    Type.Object({
      count: t.count('How many had a range.'),
      share: t.number('How many of these lay in it, from 0 to 1.'),
    }),
    'Null without ranges.',
  ),
  brier: t.numberOrNull(`${BRIER} Null without odds.`),
  rpss: t.numberOrNull(RPSS),
}

const AreaSkill = t.component('AreaSkill', 'How well an area was predicted.', {
  code: Type.String(),
  name: Type.String(),
  ...Figures,
  ...FurtherFigures,
})

const KeptSkill = t.component('KeptSkill', 'The same of an area, as it is kept with the release.', {
  level: t.count('0 is the country.'),
  code: Type.String(),
  observers: t.count('Of how many accounts each time; a row of a file is one.'),
  ...Figures,
  ...FurtherFigures,
  kept_at: t.Time,
})

export const Scorecard = t.component('Scorecard', 'The predictions of a release against observations.', {
  release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
  product: Type.String({ examples: ['yield'] }),
  unit: t.string('Of bias, RMSE and MAE.', 'kg/ha'),
  level: t.integer('Of the areas.'),
  from_feedback: t.count('How many observations were given in feedback to answers of the release.'),
  from_messages: t.count(
    'How many were told by text message and count: in an area at most as many as the others.',
  ),
  message_ratings: t.object('How senders of text messages have rated its answers.', {
    count: t.count('How many ratings.'),
    mean: t.numberOrNull('From 1 to 5; null below five senders.'),
  }),
  from_file: t.count('How many were given in a file; 0 in answers of the API.'),
  without_value: t.count(
    'Of all these, how many the release has no value for, or values for several conditions.',
  ),
  smallest_group: t.integer('Of fewer accounts nothing is shown; each row of a file counts as one.', 5),
  scenarios: Type.Array(t.ref(ScenarioScore)),
  districts: t.array(DistrictScore, 'In the order of their codes.'),
  withheld_groups: t.count('How many scenarios of areas have too few, or would give away those that have.'),
  odds: t.orNull(t.ref(OddsScore), 'Null without odds.'),
  skill: t.array(AreaSkill, 'Of areas of the level, in the order of their codes.'),
  kept: t.array(KeptSkill, 'What `agro scorecard --keep` has kept: the country, then its areas of level 1.'),
})
export type Scorecard = Static<typeof Scorecard>

export const scorecardSchemas = [
  ...[ScenarioScore, DistrictScore, Bin, Reliability, OddsScore, AreaSkill, KeptSkill],
  Scorecard,
]
