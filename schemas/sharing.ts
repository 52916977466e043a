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
    id: Type.String({ description: 'The end of its address. It cannot be guessed.', examples: [TOKEN] }),
    url: Address,
    shared_at: Time,
  },
  { $id: 'Share', description: 'Where an item of the history is shown to everybody who knows the address.' },
)

export const CitationParams = Type.Object({
  id: Type.String({ description: 'The id from `POST /history/{id}/share`.' }),
})

export const CitedRelease = Type.Object(
  {
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    state: oneOf(RELEASE_STATES, 'The state of the release; see `GET /releases/{release}`.'),
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
    body: AsItWas('The JSON to send: the request, with the releases that answered it.'),
    token: Type.Boolean({ description: 'Whether it takes a token, as polygons do.' }),
    sha256: Type.String({
      description: 'Of the bytes of the answer, in hexadecimal.',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  },
  {
    $id: 'Verification',
    description:
      'How to verify the answer. The request with these headers gets these bytes, as long as the releases exist. Reasons for missing values are not verified.',
  },
)

export function sharingSchemasOf(products: readonly ProductContract[]) {
  const citation = Type.Object(
    {
      id: Type.String({ examples: [TOKEN] }),
      url: Address,
      shared_at: Time,
      answered_at: Time,
      kind: oneOf(['point', 'polygon'], 'The kind of place.'),
      product: recordedProductSchema(products, 'The product; `all` is every product in one call.'),
      releases: Type.Array(ref(CitedRelease)),
      request: AsItWas('The request.'),
      answer: AsItWas('The answer.'),
      verify: Type.Union([ref(Verification), Type.Null()], {
        description:
          'Null where the request asks for nutrients: compositions of inputs may change. Also null where this version refuses a request that an earlier one answered: a `budget` for several products, or bags of less than a gram.',
      }),
    },
    {
      $id: 'Citation',
      description: 'A shared advisory, without the person.',
    },
  )
  return { citation, components: [CitedRelease, Verification, citation, CitationPage] }
}
