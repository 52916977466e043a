import { Type } from 'typebox'
import { ref } from './common.ts'

/** What an answer says of its country where the request left that out. */
export const CountrySource = Type.Optional(
  Type.Literal('place', {
    description:
      'Sent where the request left `country_code` out: the country is the one that the place lies in.',
  }),
)

export const IgnoredName = Type.Object(
  {
    name: Type.String({ description: 'As it was sent; long ones are cut off.', examples: ['corp'] }),
    did_you_mean: Type.Optional(
      Type.String({ description: 'The name that was probably meant.', examples: ['crop'] }),
    ),
  },
  { $id: 'IgnoredName', description: 'A field or parameter that the operation does not know.' },
)

/** What an answer says of what it took no notice of. */
export const Ignored = Type.Optional(
  Type.Array(ref(IgnoredName), {
    description:
      'The fields and parameters that the operation does not know, ten at most; left out where there are none. `Prefer: handling=strict` has them refused.',
  }),
)
