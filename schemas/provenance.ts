import { type Static, Type } from 'typebox'
import { Latitude, Longitude, ref } from './common.ts'

const Count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] })

const OfCrs = (description: string, example: number) => Type.Number({ description, examples: [example] })

export const ProvenanceLayer = Type.Object(
  {
    layer: Type.Integer({
      minimum: 1,
      description: 'Its number, as in `GET /releases/{release}/layers`.',
      examples: [2],
    }),
    input: Type.Union([Type.String(), Type.Null()], {
      description: 'The input or species; null where the product has none.',
      examples: [null],
    }),
    scenario: Type.Union([Type.String(), Type.Null()], { examples: ['Normal'] }),
    raw: Type.Number({
      description:
        'The number that is stored of the pixel, unrounded. The value is `raw` * `scale` + `offset`, rounded.',
      examples: [2464.1298828125],
    }),
    scale: Type.Number({ examples: [1] }),
    offset: Type.Number({ examples: [0] }),
  },
  { $id: 'ProvenanceLayer', description: 'A layer that has a value in a pixel.' },
)

export const ProvenancePixel = Type.Object(
  {
    srid: Type.Integer({ description: 'EPSG code of the CRS of the grid.', examples: [4326] }),
    column: Count('Counted from 0, at the left.', 550),
    row: Count('Counted from 0, at the top.', 540),
    centre: Type.Object(
      {
        x: OfCrs('In the CRS of the grid.', 38.505),
        y: OfCrs('In the CRS of the grid.', 9.495),
        lng: Longitude,
        lat: Latitude,
      },
      { description: 'The middle of the pixel.' },
    ),
    size: Type.Object({
      x: OfCrs('Its width, in the unit of the CRS.', 0.01),
      y: OfCrs('Its height.', 0.01),
      unit: Type.String({ examples: ['degree'] }),
    }),
    layers: Type.Array(ref(ProvenanceLayer)),
  },
  { $id: 'ProvenancePixel', description: 'The pixel of a grid that the point lies in.' },
)

export const Provenance = Type.Object(
  {
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    source: Type.String({
      description: 'The maker of its values.',
      examples: ['Ministry of Agriculture, agronomy model 4.2'],
    }),
    licence: Type.String({ examples: ['CC BY 4.0'] }),
    checksum: Type.String({
      description: 'SHA-256 of the definitions of its layers and of the files that it was loaded from.',
      examples: ['2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'],
    }),
    pixels: Type.Array(ref(ProvenancePixel), {
      description: 'One for each grid that has a value at the point.',
    }),
  },
  {
    $id: 'Provenance',
    description: 'Which pixels of a release were read for an answer, and whose they are.',
  },
)
export type Provenance = Static<typeof Provenance>

/** The components of it, in the order of the document. */
export const PROVENANCE_COMPONENTS = [ProvenanceLayer, ProvenancePixel, Provenance]

/** The member of answers that have it. */
export const ProvenanceMember = Type.Optional(
  Type.Array(ref(Provenance), {
    description:
      'One for each release that answered, where the request has `provenance: true` or `Prefer: return=provenance`.',
  }),
)
