import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { optional, Time } from './common.ts'
import type { ExampleEntry, ProductContract } from './product.ts'

/** What was seen in the field: values by the keys that products are observed by, and the harvest. */
interface Observed {
  harvested_on?: string
  [key: string]: number | string | undefined
}

const OBSERVED = 'Observed'

const HARVEST = '2026-11-20'

/** The value of each product that can be observed, and the date of the harvest. */
export function observedSchemaOf(products: readonly ProductContract[]): TObject {
  const fields = observedFieldsOf(products).map(([key, field]) => [key, Type.Optional(field)])
  return Type.Object(Object.fromEntries(fields), {
    $id: OBSERVED,
    description: 'Observations in the field.',
    examples: [observedExample(products)],
  })
}

/** The same as it is sent. */
function observedRequestOf(products: readonly ProductContract[]) {
  const fields = observedFieldsOf(products).map(([key, field]) => [key, optional(field)])
  return Type.Unsafe<{ [Key in keyof Observed]: Observed[Key] | null }>(
    Type.Object(Object.fromEntries(fields), {
      description: 'Observations in the field. Fields that are not listed are ignored.',
    }),
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

export function feedbackRequestOf(products: readonly ProductContract[]) {
  return Type.Object(
    {
      rating: Rating,
      comment: optional(Type.String({ maxLength: 2000, format: 'text' })),
      observed: optional(observedRequestOf(products)),
    },
    {
      $id: 'FeedbackRequest',
      description: 'Feedback on an advisory. Fields that are not listed are ignored.',
      examples: [
        {
          rating: 4,
          comment: 'The harvest came close to it.',
          observed: observedExample(products, 1),
        },
      ],
    },
  )
}
export type FeedbackRequest = Static<ReturnType<typeof feedbackRequestOf>>

export const Feedback = Type.Object(
  {
    rating: Rating,
    comment: Type.Union([Type.String(), Type.Null()], { examples: ['The harvest came close to it.'] }),
    observed: Type.Union([ObservedReference, Type.Null()]),
    created_at: { ...Time, description: 'When it was first given.' },
    updated_at: { ...Time, description: 'When it was last replaced.' },
  },
  { $id: 'Feedback' },
)
export type Feedback = Static<typeof Feedback>
