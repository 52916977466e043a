import { type Static, Type } from 'typebox'
import * as t from '#schemas/common.ts'
import type { MemberSchemas } from '#schemas/point-request.ts'

declare module '#schemas/point-request.ts' {
  interface PointRequest {
    proof?: boolean
  }
}

const Hash = Type.String({
  pattern: '^[\\w-]{43}$',
  examples: ['47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'],
})

export const MERKLE_ROOT = t.orNull(
  Hash,
  'The root of the Merkle tree over its pixels, as base64url; null until it is computed. It never changes.',
)

export const MERKLE_HEADER = t.orNull(
  Type.String(),
  'The text of which the root has the hash: JSON with the release, its grids and its layers.',
  null,
)

const ProvenPixel = t.component('ProvenPixel', 'A pixel, those beside it, and the way to the root.', {
  grid: t.integer('The number of the grid in the release, from 1.', 1),
  column: t.count('Counted from 0, at the left.', 550),
  row: t.count('Counted from 0, at the top.', 540),
  precision: t.oneOf(
    ['single', 'double'],
    'Of the numbers of `raw`, which have no more digits than they need: a verifier rounds each to it.',
  ),
  raw: Type.Array(Type.Array(Type.Union([Type.Number(), Type.Null()])), {
    description:
      'The stored numbers of the run of eight pixels in which it is, at `column % 8`: of each pixel all bands of the grid, unrounded; null for none. At the edge of the grid a run is shorter.',
    examples: [
      [
        [4229, 5074.8],
        [4231, 5077.2],
      ],
    ],
  }),
  path: Type.Array(Hash, {
    description: 'The hashes beside the way, from the run to the values of the release.',
  }),
})

const Proof = t.component(
  'Proof',
  'That the values of an answer are in a release as it was loaded. The guide to proofs says how to verify it.',
  {
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    merkle_root: Hash,
    kid: t.orNull(Type.String(), 'The key of the signature, as in `/.well-known/jwks.json`.', null),
    signature: t.orNull(
      Type.String(),
      'Of the root: a detached JWS with an unencoded payload (RFC 7797). Null where the service has no key.',
      null,
    ),
    pixels: t.array(ProvenPixel, 'One for each grid that has a value at the point.'),
  },
)
export type Proof = Static<typeof Proof>

/** The root of a release with the operator's signature. */
export type SignedRoot = Omit<Proof, 'pixels'>

const ProofMember = t.orNull(
  t.array(Proof, 'One for each release.'),
  'Where the request has `proof: true`: one for each release that answered. A release whose hashes are not computed yet has none; null where no release has.',
  null,
)

export const proofSchemas: MemberSchemas = {
  name: 'proof',
  of: 'pixels',
  field: t.boolean('Whether the answer has what proves its values without the service (`proof`).'),
  schema: ProofMember,
  components: [ProvenPixel, Proof],
  changes: true,
}

const PublicKey = Type.Object({
  kty: Type.Literal('OKP'),
  crv: Type.Literal('Ed25519'),
  x: t.string('The public key, as base64url.', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'),
  kid: t.string('Its thumbprint (RFC 7638).', 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'),
  use: Type.Literal('sig'),
  alg: Type.Literal('EdDSA'),
  retired_at: Type.Optional({ ...t.Time, description: 'Since when it signs no more.' }),
})

export const KeySet = t.component('KeySet', 'Public keys (RFC 7517).', {
  keys: Type.Array(PublicKey),
})
