import { Type } from 'typebox'
import { oneOf } from './common.ts'

/** What can come of a test delivery. */
export const TEST_OUTCOMES = ['delivered', 'refused', 'unanswered', 'secret_lost'] as const

export const WebhookTest = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The `webhook-id` of the test message.' }),
    outcome: oneOf(
      TEST_OUTCOMES,
      '`delivered`: the target answered 2xx. `refused`: it answered something else. `unanswered`: no answer came within 10 seconds. `secret_lost`: the service cannot read the secret any more; have it renewed.',
    ),
    status: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The HTTP status that the target answered; null where it did not answer.',
      examples: [204],
    }),
  },
  { $id: 'WebhookTest', description: 'The result of a test delivery.' },
)
