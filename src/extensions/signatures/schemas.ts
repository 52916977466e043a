import { type Static, Type } from 'typebox'
import * as t from '#schemas/common.ts'

export const ReleaseFile = t.component('ReleaseFile', 'A file that a release was loaded from.', {
  name: t.string('Without folders.', 'urea-normal.tif'),
  sha256: t.string(
    'Of its bytes, as `sha256sum` prints it; an archive is hashed as it is.',
    '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  ),
  bytes: t.count('Its length.', 53_652),
  layers: Type.Array(
    Type.Object({
      layer: t.integer('The number of the layer.', 1),
      band: Type.Optional(t.integer('That the layer is read from; a mask has none.', 1)),
      path: Type.Optional(t.string('Of the raster in an archive.', 'urea/normal.tif')),
      nodata: Type.Optional(t.numberOrNull('Pixels of this number have no value; null for none.', -9999)),
      masked: Type.Optional(t.boolean('Whether pixels of mask or alpha 0 have no value.')),
    }),
    { description: 'The layers of it. Masks and older statements are without `nodata` and `masked`.' },
  ),
})
export type ReleaseFile = Static<typeof ReleaseFile>

/** Members of a release. */
export const FILES = t.orNull(
  t.array(ReleaseFile, 'Those of its pixels.'),
  'The files that it was loaded from; none of the demo. Null where an older version loaded it, which kept no hashes.',
)

export const SIGNATURE = t.stringOrNull(
  'By the key of the operator, of `GET /releases/{release}/statement`: a detached JWS with an unencoded payload (RFC 7797). Null without a statement or a key.',
  null,
)

/** A change of the form gets another name. */
export const FORMAT = 'agro release 2'

export const Statement = Type.Object(
  {
    format: t.oneOf(['agro release 1', FORMAT], 'The first has no `nodata` and `masked`.'),
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    files: t.array(ReleaseFile, 'Those of its pixels.'),
  },
  {
    $id: 'ReleaseStatement',
    description:
      'All that a release was loaded as: its members, grids and layers, too. Its bytes, in the canonical form of RFC 8785, never change.',
    additionalProperties: true,
  },
)

const PublicKey = Type.Object({
  kty: Type.Literal('OKP'),
  crv: Type.Literal('Ed25519'),
  x: t.string('The public key, as base64url.', '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'),
  kid: t.string('Its thumbprint (RFC 7638).', 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'),
  use: Type.Literal('sig'),
  alg: Type.Literal('EdDSA'),
  retired_at: Type.Optional({ ...t.Time, description: 'Since when it signs no more.' }),
})

export const KeySet = t.component('KeySet', 'Public keys (RFC 7517).', { keys: Type.Array(PublicKey) })
