import { type Static, Type } from 'typebox'
import { areaLevel, MAX_LEVEL } from '#schemas/areas.ts'
import { conditionOfEntry } from '#schemas/certainty.ts'
import * as t from '#schemas/common.ts'

export const ChangesParams = Type.Object({
  a: t.text(
    200,
    'The code of the release before, which is complete, published or not.',
    'yield-eth-wheat-2026-07-v1',
  ),
  b: t.text(200, 'The code of the release after.', 'yield-eth-wheat-2026-07-v2'),
})

export const ChangesQuery = Type.Object({
  level: Type.Optional(areaLevel('Of the areas; the finest that is loaded, down to 2, when left out.')),
  threshold: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1_000_000,
      default: 10,
      description: 'The percentage of its old value by which a value must differ to count as changed.',
    }),
  ),
  exact: t.withDefault(
    t.oneOf(['true', 'false'], 'Whether to look at every pixel, and not only at summaries.'),
    'false',
  ),
  format: t.withDefault(t.oneOf(['json', 'csv'], 'The format of the answer, as with `Accept`.'), 'json'),
})

/** Which layer a value is of. */
const ofLayer = {
  input: t.stringOrNull('The input or variety; null where layers differ in their scenario alone.', 'Urea'),
  scenario: t.stringOrNull('Null where the product has none.', 'Normal'),
  ...conditionOfEntry,
}

const thresholdValue = {
  minimum: 0,
  maximum: 1_000_000_000,
  description: 'By more than so much a value has to change; with 0 by anything.',
}

/** A threshold as two parameters. */
export const THRESHOLD_PARAMETERS = {
  threshold: t.withDefault(Type.Number(thresholdValue), 10),
  threshold_kind: t.withDefault(
    t.oneOf(
      ['relative', 'absolute'],
      '`relative`: in percent of the value before. `absolute`: in the unit of the product.',
    ),
    'relative',
  ),
}

export const Threshold = t.component(
  'ChangeThreshold',
  'Which changes are told. A value that comes or goes always is.',
  {
    kind: t.oneOf(
      ['absolute', 'relative'],
      '`absolute`: in the unit of the product. `relative`: in percent of the value that was told before.',
    ),
    value: Type.Number({ ...thresholdValue, examples: [10] }),
  },
)
export type Threshold = Static<typeof Threshold>

export const WatchedValue = t.component('WatchedValue', 'The last value of a layer that was sent.', {
  ...ofLayer,
  value: t.number('Of a polygon or an area it is the mean.', 4229),
})
export type WatchedValue = Static<typeof WatchedValue>

export const ValueChange = t.component(
  'FieldChange',
  'How a value of a field has changed; means of its area.',
  {
    ...ofLayer,
    before: t.numberOrNull('Null without a value.', 4358),
    after: t.numberOrNull('Null without a value.', 2800),
    change: t.numberOrNull('After minus before; null where one of them is missing.', 336),
    change_percent: t.numberOrNull(
      'Percent of the value before; null where there is none, or where it is 0.',
      13.6,
    ),
  },
)
export type ValueChange = Static<typeof ValueChange>

const ofPixels = (description: string, example: number) =>
  t.orNull(
    Type.Number({ minimum: 0, maximum: 100 }),
    `${description} Null where the releases have the layer on different grids.`,
    example,
  )

const Figures = {
  mean_before: t.numberOrNull('The mean, weighted by area; null where there was no value.', 2104.5),
  mean_after: t.numberOrNull('The mean; null where there is no value.', 2210.25),
  change: t.numberOrNull('The mean after minus the mean before.', 105.75),
  change_percent: t.numberOrNull(
    'The same in percent of the mean before; null where that is 0 or missing.',
    5.0249,
  ),
  covered_before_percent: t.percent('How much of the area had values.', 98.2),
  covered_after_percent: t.percent('How much of the area has values.', 97.5),
  gained_percent: ofPixels(
    'How much of the area has values and had none; at least, where `exact` is false.',
    0.1,
  ),
  lost_percent: ofPixels(
    'How much of the area had values and has none; at least, where `exact` is false.',
    0.8,
  ),
  changed_percent: ofPixels('How much of the area has values that differ by more than the threshold.', 12.5),
  changed_percent_least: ofPixels('A bound of that: no less.', 9.75),
  changed_percent_most: ofPixels('A bound of that: no more.', 14.25),
}

const Layer = {
  input: Type.Union([Type.String(), Type.Null()], { examples: ['Urea'] }),
  scenario: Type.Union([Type.String(), Type.Null()], { examples: ['Normal'] }),
  ...conditionOfEntry,
  unit: Type.String({ examples: ['kg/ha'] }),
}

const LayerChange = t.component(
  'LayerChange',
  'The change of a layer in all areas together. Percentages are of the area.',
  { ...Layer, ...Figures },
)

const AreaChange = t.component(
  'AreaChange',
  'The change of a layer in an area. Percentages are of the area.',
  {
    code: Type.String({ examples: ['ETH-01'] }),
    name: Type.String({ examples: ['Tigray'] }),
    ...Layer,
    ...Figures,
  },
)

export const ReleaseChanges = t.component('ReleaseChanges', {
  before: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
  after: Type.String({ examples: ['yield-eth-wheat-2026-07-v2'] }),
  level: t.orNull(
    Type.Integer({ minimum: 0, maximum: MAX_LEVEL }),
    'Of the areas; null where none are loaded, and all that the releases cover is one.',
    2,
  ),
  threshold_percent: Type.Number({ examples: [10] }),
  exact: t.boolean('Whether every pixel was looked at.'),
  layers: Type.Array(t.ref(LayerChange)),
  worst: t.array(
    AreaChange,
    'The areas in which a mean changes most, ten at most, each with the layer in which it does.',
  ),
  areas: t.array(AreaChange, 'Each layer in each area, in the order of their codes.'),
})
export type ReleaseChanges = Static<typeof ReleaseChanges>

export const ChangesCsv = t.textBody(
  'ReleaseChangesCsv',
  'A row for each layer in each area, with the members of `AreaChange` as columns.',
  'code,name,input,scenario,unit,mean_before,mean_after,change,change_percent,covered_before_percent,covered_after_percent,gained_percent,lost_percent,changed_percent,changed_percent_least,changed_percent_most\r\nETH-01,Tigray,,Normal,kg/ha,2104.5,2210.25,105.75,5.0249,98.2,97.5,0.1,0.8,12.5,9.75,14.25\r\n',
)

export const changesComponents = [LayerChange, AreaChange, ReleaseChanges, ChangesCsv]

const CHANGE_KINDS = ['published', 'rolled_back', 'withdrawn', 'deleted', 'boundaries_loaded'] as const

export const FEED_DEFAULTS = { limit: 100 } as const

export const FeedQuery = Type.Object({
  since: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'The id of the last known entry: `next_since` of the last answer. By default, all entries.',
      examples: [0],
    }),
  ),
  limit: t.pageLimit(1000, FEED_DEFAULTS.limit, 'How many entries at most.'),
  format: t.withDefault(t.oneOf(['json', 'atom'], 'The format of the answer, as with `Accept`.'), 'json'),
})

export const ChangeEntry = t.component(
  'ChangeEntry',
  'Something that has changed what the service answers.',
  {
    id: t.integer('Larger than those of all entries before.', 42),
    at: t.Time,
    kind: t.oneOf(
      CHANGE_KINDS,
      '`published`: the release answers from now on. `rolled_back`: it does so again, in the place of a newer one. `withdrawn`: it answers no more, and nothing has taken its place. `deleted`: it is gone for good. `boundaries_loaded`: the administrative areas of a level are others.',
    ),
    release: t.stringOrNull('The code of the release; null for boundaries.', 'yield-eth-wheat-2026-07-v2'),
    replaced: t.stringOrNull(
      'The code of the release that answered before it; null where none did.',
      'yield-eth-wheat-2026-07-v1',
    ),
    product: t.stringOrNull('The product; null for boundaries.', 'yield'),
    country_code: Type.String({ examples: ['eth'] }),
    crop: t.stringOrNull('Null where the product needs none, and for boundaries.', 'wheat'),
    forecast_month: t.stringOrNull(
      'As `YYYY-MM`; null where the product has no seasons, and for boundaries.',
      '2026-07',
    ),
    synthetic: t.orNull(Type.Boolean(), 'Whether its values are made up; null for boundaries.'),
    level: t.integerOrNull('Of the boundaries; null for releases.'),
  },
)
export type ChangeEntry = Static<typeof ChangeEntry>

export const ChangeFeed = t.component('ChangeFeed', 'Changes, the oldest first.', {
  items: t.array(ChangeEntry, 'The newest last.'),
  next_since: t.integer(
    'Send it as `since` the next time. It is the id of the last item, or the `since` of the request where there is none.',
    42,
  ),
  more: t.boolean('Whether there are more already.'),
})
export type ChangeFeed = Static<typeof ChangeFeed>

export const AtomFeed = t.textBody('AtomFeed', 'A feed of Atom (RFC 4287), the newest entry first.')

export const feedSchemas = [ChangeEntry, ChangeFeed, AtomFeed]
