import { Type } from 'typebox'
import { oneOf, ref, Time } from './common.ts'
import { type ProductContract, recordedProductSchema } from './product.ts'
import { RELEASE_STATES } from './releases.ts'

const TOKEN = 'q3sT0mY1v9xJr8bQ2dKfLw4z'

const Address = Type.String({
  description: 'Where everybody finds it: a page for browsers, and JSON for programs.',
  examples: [`https://advice.example.org/cite/${TOKEN}`],
})

export const Share = Type.Object(
  {
    id: Type.String({ description: 'The end of its address. Nobody can guess it.', examples: [TOKEN] }),
    url: Address,
    shared_at: Time,
  },
  { $id: 'Share', description: 'Where an item of the history is shown to everybody who knows the address.' },
)

export const CitationParams = Type.Object({
  id: Type.String({ description: 'What `POST /history/{id}/share` has given.' }),
})

export const CitedRelease = Type.Object(
  {
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    state: oneOf(RELEASE_STATES, 'What has become of it; see `GET /releases/{release}`.'),
    source: Type.String({ examples: ['Ministry of Agriculture, agronomy model 4.2'] }),
    licence: Type.String({ examples: ['CC BY 4.0'] }),
    checksum: Type.String({
      examples: ['2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'],
    }),
  },
  { $id: 'CitedRelease', description: 'A release that the cited answer was computed from.' },
)

const AsItWas = (description: string) =>
  Type.Unsafe<object>({ type: 'object', additionalProperties: true, description })

export const CitationPage = Type.String({ $id: 'CitationPage', description: 'A citation as a page.' })

export const Verification = Type.Object(
  {
    method: Type.Literal('POST'),
    url: Type.String({ examples: ['https://advice.example.org/advisory/yield/point'] }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'The headers to send with it.',
      examples: [{ 'Content-Type': 'application/json', Accept: 'application/json', Prefer: 'history=none' }],
    }),
    body: AsItWas('What to send as JSON: the request, with the releases that answered it.'),
    token: Type.Boolean({ description: 'Whether it takes a token, as polygons do.' }),
    sha256: Type.String({
      description: 'Of the bytes of the answer, in hexadecimal.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  },
  {
    $id: 'Verification',
    description:
      'How to see that the answer is what the releases say: the request, sent with these headers, is answered with these bytes, as long as the releases are there. Of products without a value it says that no release of theirs is named: why they had none is not verified.',
  },
)

export function sharingSchemasOf(products: readonly ProductContract[]) {
  const citation = Type.Object(
    {
      id: Type.String({ examples: [TOKEN] }),
      url: Address,
      shared_at: Time,
      answered_at: Time,
      kind: oneOf(['point', 'polygon'], 'What was asked about.'),
      product: recordedProductSchema(products, 'What was asked for; `all` is every product in one call.'),
      releases: Type.Array(ref(CitedRelease)),
      request: AsItWas('What was asked.'),
      answer: AsItWas('What was answered.'),
      verify: Type.Union([ref(Verification), Type.Null()], {
        description:
          'Null where nutrients were asked for: what inputs consist of is what the operator knows today. So it is where a version before has answered what is refused now: a `budget` for several products, or bags of less than a gram.',
      }),
    },
    {
      $id: 'Citation',
      description: 'An advisory that somebody has shared, without who that is.',
    },
  )
  return { citation, components: [CitedRelease, Verification, citation, CitationPage] }
}
