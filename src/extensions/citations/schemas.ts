import { Type } from 'typebox'
import { RELEASE_STATES } from '#schemas/catalog.ts'
import * as t from '#schemas/common.ts'
import { AsItWas } from '#schemas/history.ts'
import { type ProductContract, recordedProductSchema } from '#schemas/product.ts'

const TOKEN = 'q3sT0mY1v9xJr8bQ2dKfLw4z'

const Address = t.string(
  'Where everybody finds it: a page for browsers, and JSON for programs.',
  `https://advice.example.org/cite/${TOKEN}`,
)

export const Share = t.component(
  'Share',
  'Where an item of the history is shown to everybody who knows the address.',
  {
    id: t.string('The end of its address. It cannot be guessed.', TOKEN),
    url: Address,
    shared_at: t.Time,
  },
)

export const CitationParams = Type.Object({
  id: t.string('The id from `POST /history/{id}/share`.'),
})

const CitedRelease = t.component('CitedRelease', 'A release that the cited answer was computed from.', {
  release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
  state: t.oneOf(RELEASE_STATES, 'The state of the release; see `GET /releases/{release}`.'),
  source: Type.String({ examples: ['Ministry of Agriculture, agronomy model 4.2'] }),
  licence: Type.String({ examples: ['CC BY 4.0'] }),
  checksum: Type.String({
    examples: ['2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'],
  }),
})

export const CitationPage = t.textBody('CitationPage', 'A citation as a page.')

const Verification = t.component(
  'Verification',
  'How to verify the answer. The request with these headers gets these bytes, as long as the releases exist. Reasons for missing values are not verified.',
  {
    method: Type.Literal('POST'),
    url: Type.String({ examples: ['https://advice.example.org/advisory/yield/point'] }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'The headers to send with it.',
      examples: [{ 'Content-Type': 'application/json', Accept: 'application/json', Prefer: 'history=none' }],
    }),
    body: AsItWas('The JSON to send: the request, with the releases that answered it.'),
    token: t.boolean('Whether it takes a token, as polygons do.'),
    sha256: t.string(
      'Of the bytes of the answer, in hexadecimal.',
      '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ),
  },
)

export function defineCitationSchemas(products: readonly ProductContract[]) {
  const citation = t.component('Citation', 'A shared advisory, without the person.', {
    id: Type.String({ examples: [TOKEN] }),
    url: Address,
    shared_at: t.Time,
    answered_at: t.Time,
    kind: t.oneOf(['point', 'polygon'], 'The kind of place.'),
    product: recordedProductSchema(products, 'The product; `all` is every product in one call.'),
    releases: Type.Array(t.ref(CitedRelease)),
    request: AsItWas('The request.'),
    answer: AsItWas('The answer.'),
    verify: t.orNull(
      t.ref(Verification),
      'Null where the request asks for nutrients: compositions of inputs may change. Also null where this version refuses a request that an earlier one answered: a `budget` for several products, or bags of less than a gram.',
    ),
  })
  return { citation, components: [Share, CitedRelease, Verification, citation, CitationPage] }
}
