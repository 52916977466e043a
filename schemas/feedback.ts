import { type Static, type TObject, type TSchema, Type } from 'typebox'
import * as t from './common.ts'
import type { ExampleEntry, ProductContract } from './product.ts'

/** What was seen in the field: values by the keys that products are observed by, and the harvest. */
interface Observed {
  harvested_on?: string
  [key: string]: number | string | undefined
}

const OBSERVED = 'Observed'

const HARVEST = '2026-11-20'

/** The value of each product that can be observed, and the date of the harvest. */
export function defineObservedSchema(products: readonly ProductContract[]): TObject {
  const fields = observedFieldsOf(products).map(([key, field]) => [key, Type.Optional(field)])
  return t.component(
    OBSERVED,
    'Observations in the field.',
    Object.fromEntries(fields),
    observedExample(products),
  )
}

function observedRequestOf(products: readonly ProductContract[]) {
  const fields = observedFieldsOf(products).map(([key, field]) => [key, t.optional(field)])
  return Type.Unsafe<{ [Key in keyof Observed]: Observed[Key] | null }>(
    t.object(
      'Observations in the field. Fields that are not listed are ignored.',
      Object.fromEntries(fields),
    ),
  )
}

function observedFieldsOf(products: readonly ProductContract[]): [string, TSchema][] {
  return [
    ...products.flatMap(({ observed }): [string, TSchema][] => {
      if (!observed) return []
      const { key, maximum, description } = observed
      return [[key, Type.Number({ minimum: 0, maximum, description })]]
    }),
    [
      'harvested_on',
      Type.String({
        format: 'day',
        description: 'The date of the harvest, which is not in the future.',
        examples: [HARVEST],
      }),
    ],
  ]
}

/** @param most so many values at most */
function observedExample(products: readonly ProductContract[], most?: number): ExampleEntry {
  const values = products.flatMap(({ observed }) =>
    observed?.example === undefined ? [] : [[observed.key, observed.example]],
  )
  return { ...Object.fromEntries(values.slice(0, most)), harvested_on: HARVEST }
}

const ObservedReference = Type.Unsafe<Observed>({ $ref: `${OBSERVED}#` })

const Rating = Type.Integer({
  minimum: 1,
  maximum: 5,
  description: '1 is useless, 5 is just right.',
  examples: [4],
})

export function defineFeedbackRequest(products: readonly ProductContract[]) {
  return t.component(
    'FeedbackRequest',
    'Feedback on an advisory. Fields that are not listed are ignored.',
    {
      rating: Rating,
      comment: t.optional(Type.String({ maxLength: 2000, format: 'text' })),
      observed: t.optional(observedRequestOf(products)),
    },
    {
      rating: 4,
      comment: 'The harvest came close to it.',
      observed: observedExample(products, 1),
    },
  )
}
export type FeedbackRequest = Static<ReturnType<typeof defineFeedbackRequest>>

export const Feedback = t.component('Feedback', {
  rating: Rating,
  comment: Type.Union([Type.String(), Type.Null()], { examples: ['The harvest came close to it.'] }),
  observed: t.orNull(ObservedReference),
  created_at: { ...t.Time, description: 'When it was first given.' },
  updated_at: { ...t.Time, description: 'When it was last replaced.' },
})
export type Feedback = Static<typeof Feedback>
