import { Type } from 'typebox'
import * as t from '#schemas/common.ts'

export const readinessSchema = {
  files: Type.Optional(
    t.object('The files that rasters are in, where they are not in the database.', {
      state: Type.Enum(['used', 'unavailable'], {
        description:
          '`unavailable`: the store does not answer. Values in memory or in the disk cache are answered; all else is 503.',
      }),
    }),
  ),
}
