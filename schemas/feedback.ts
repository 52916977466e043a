import { type Static, type TObject, Type } from 'typebox'
import { Time } from './common.ts'
import type { ExampleEntry, ProductContract } from './product.ts'

/** What was seen in the field: values by the keys that products are observed by, and the harvest. */
export interface Observed {
  harvested_on?: string
  [key: string]: number | string | undefined
}

const OBSERVED = 'Observed'

const HARVEST = '2026-11-20'

/** The value of each product that can be observed, and the date of the harvest. */
export function observedSchemaOf(products: readonly ProductContract[]): TObject {
  const values = products.flatMap(({ observed }) => observed ?? [])
  return Type.Object(
    {
      ...Object.fromEntries(
        values.map(({ key, maximum, description }) => [
          key,
          Type.Optional(Type.Number({ minimum: 0, maximum, description })),
        ]),
      ),
      harvested_on: Type.Optional(
        Type.String({ format: 'day', description: 'The date of the harvest.', examples: [HARVEST] }),
      ),
    },
    {
      $id: OBSERVED,
      description: 'What was seen in the field. Fields that are not listed are ignored.',
      examples: [observedExample(products)],
    },
  )
}

/** @param most so many values at most */
function observedExample(products: readonly ProductContract[], most?: number): ExampleEntry {
  const values = products.flatMap(({ observed }) =>
    observed?.example === undefined ? [] : [[observed.key, observed.example]],
  )
  return { ...Object.fromEntries(values.slice(0, most)), harvested_on: HARVEST }
}

const ObservedReference = Type.Unsafe<Observed>({ $ref: `${OBSERVED}#` })

const Rating = Type.Integer({ minimum: 1, maximum: 5, description: '1 is useless, 5 is just right.' })

export function feedbackRequestOf(products: readonly ProductContract[]) {
  return Type.Object(
    {
      rating: Rating,
      comment: Type.Optional(Type.String({ maxLength: 2000, format: 'text' })),
      observed: Type.Optional(ObservedReference),
    },
    {
      $id: 'FeedbackRequest',
      description: 'What the caller says of an advisory. Fields that are not listed are ignored.',
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
    comment: Type.Union([Type.String(), Type.Null()]),
    observed: Type.Union([ObservedReference, Type.Null()]),
    created_at: { ...Time, description: 'When it was first given.' },
    updated_at: { ...Time, description: 'When it was last replaced.' },
  },
  { $id: 'Feedback' },
)
export type Feedback = Static<typeof Feedback>
