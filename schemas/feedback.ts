import { type Static, Type } from 'typebox'
import { ref, Time } from './common.ts'

export const Observed = Type.Object(
  {
    yield_kg_ha: Type.Optional(
      Type.Number({ minimum: 0, maximum: 200_000, description: 'What was harvested, in kg/ha.' }),
    ),
    rate_kg_ha: Type.Optional(
      Type.Number({ minimum: 0, maximum: 10_000, description: 'Inorganic fertilizer applied, in kg/ha.' }),
    ),
    rate_tons_ha: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1000,
        description: 'Organic input applied, in metric tons per hectare.',
      }),
    ),
    harvested_on: Type.Optional(
      Type.String({ format: 'day', description: 'The date of the harvest.', examples: ['2026-11-20'] }),
    ),
  },
  {
    $id: 'Observed',
    description: 'What was seen in the field. Fields that are not listed are ignored.',
    examples: [{ yield_kg_ha: 3100, rate_kg_ha: 120, harvested_on: '2026-11-20' }],
  },
)
export type Observed = Static<typeof Observed>

const Rating = Type.Integer({ minimum: 1, maximum: 5, description: '1 is useless, 5 is just right.' })

export const FeedbackRequest = Type.Object(
  {
    rating: Rating,
    comment: Type.Optional(Type.String({ maxLength: 2000, format: 'text' })),
    observed: Type.Optional(ref(Observed)),
  },
  {
    $id: 'FeedbackRequest',
    description: 'What the caller says of an advisory. Fields that are not listed are ignored.',
    examples: [
      {
        rating: 4,
        comment: 'The harvest came close to it.',
        observed: { yield_kg_ha: 3100, harvested_on: '2026-11-20' },
      },
    ],
  },
)
export type FeedbackRequest = Static<typeof FeedbackRequest>

export const Feedback = Type.Object(
  {
    rating: Rating,
    comment: Type.Union([Type.String(), Type.Null()]),
    observed: Type.Union([ref(Observed), Type.Null()]),
    created_at: { ...Time, description: 'When it was first given.' },
    updated_at: { ...Time, description: 'When it was last replaced.' },
  },
  { $id: 'Feedback' },
)
export type Feedback = Static<typeof Feedback>

export const feedbackSchemas = [FeedbackRequest]
