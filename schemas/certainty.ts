import { type Static, type TSchema, Type } from 'typebox'
import * as t from './common.ts'
import { componentOf, type ProductContract } from './product.ts'

/** How sure a value is, and the condition of the field that it is for: members of entries and answers. */

const ValueRange = t.component('ValueRange', 'The ends that the value lies between.', {
  low: t.number('In the unit of the value.', 1980),
  high: Type.Number({ examples: [3010] }),
  level: t.number('How probable that is, where the season is the scenario.', 0.8),
})

const Probability = Type.Number({
  $id: 'Probability',
  minimum: 0,
  maximum: 1,
  description: 'Of the scenario at the place. In an area the mean.',
  examples: [0.42],
})

const ScenarioOf = Type.String({
  $id: 'ScenarioOf',
  description: 'Of `Dominant`: the scenario that it restates, where odds or values show it.',
  examples: ['Normal'],
})

/** Also of answers of rooms beside advice. */
export const EntryCondition = Type.String({
  $id: 'EntryCondition',
  description: 'The condition of the field that the value is for.',
  examples: ['foot slope'],
})

const ConditionSource = Type.String({
  $id: 'ConditionSource',
  enum: ['landscape layer', 'default'],
  description:
    'Where the condition comes from, where the request names none: the landscape raster of the release, which has several in an area, or the default of the release.',
})

const ConditionQuestion = Type.String({
  $id: 'ConditionQuestion',
  description: 'For people: sent where the default of the release answers. `condition` chooses another one.',
  examples: ['Where on the slope is the field?'],
})

const Alternative = t.component(
  'Alternative',
  'What the answer would be, were the whole place under a condition. Alternatives do not add up.',
  {
    condition: t.ref(EntryCondition),
    title: Type.String({ examples: ['Foot slope, with deep soil'] }),
    share_percent: Type.Optional(
      t.number('How much of the place has it, as the landscape raster has it.', 34.2),
    ),
    entries: Type.Array(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])), {
      description: 'One for each pair: its labels, and the value.',
      examples: [[{ fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 120 }]],
    }),
  },
)

const ByCondition = Type.Array(t.ref(Alternative), {
  $id: 'ByCondition',
  description:
    'One for each condition: for an area of several, where the default answers, and with `condition=all`.',
})

export const certaintyComponents: TSchema[] = [
  Alternative,
  ByCondition,
  ValueRange,
  Probability,
  ScenarioOf,
  ConditionSource,
  ConditionQuestion,
]

/** The member of an entry before its value. */
export const conditionOfEntry = { condition: Type.Optional(t.ref(EntryCondition)) }

/** The members of an entry behind its value. */
export function certaintyOfEntry({ seasonal }: ProductContract): Record<string, TSchema> {
  return {
    ...(seasonal && { probability: Type.Optional(t.ref(Probability)) }),
    range: Type.Optional(t.ref(ValueRange)),
    ...(seasonal && { scenario_of: Type.Optional(t.ref(ScenarioOf)) }),
  }
}

/** The expected value of an input and condition. */
export function defineExpected(product: ProductContract) {
  const { input, value } = product
  return Type.Object(
    {
      ...(input && { [input.key]: Type.String() }),
      scenario: Type.String(),
      ...conditionOfEntry,
      [value.key]: Type.Number(),
    },
    {
      $id: `${componentOf(product)}Expected`,
      description: 'The values of the three seasons, each times its probability, in sum.',
    },
  )
}

/** The members of an answer behind its entries. */
export function certaintyOfAnswer(product: ProductContract, expected: TSchema): Record<string, TSchema> {
  return {
    condition_source: Type.Optional(t.ref(ConditionSource)),
    question: Type.Optional(t.ref(ConditionQuestion)),
    ...(product.seasonal && { expected: Type.Optional(Type.Array(t.ref(expected))) }),
    by_condition: Type.Optional(t.ref(ByCondition)),
  }
}

/** What a band about layers says: the odds of a scenario, an end or the spread of a range, the condition of places. */
export const COMPANION_ROLES = ['probability', 'low', 'high', 'stddev', 'landscape', 'share'] as const
export type CompanionRole = (typeof COMPANION_ROLES)[number]

export const Conditions = t.component(
  'Conditions',
  'The conditions of a field that a release has values for.',
  {
    question: t.string('For people, where a request names none.', 'Where on the slope is the field?'),
    list: Type.Array(
      Type.Object({
        condition: Type.String({ examples: ['foot slope'] }),
        title: Type.String({ examples: ['Foot slope, with deep soil'] }),
      }),
      { description: 'In the order of answers.' },
    ),
    codes: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          'Conditions by the pixels of its landscape raster, which decides where a request names none.',
      }),
    ),
    default: Type.Optional(
      t.string('Decides where a request names none, and no landscape raster has the place.', 'mid slope'),
    ),
  },
)
export type Conditions = Static<typeof Conditions>
