import { type Static, Type } from 'typebox'
import { COMPANION_ROLES } from './certainty.ts'
import * as t from './common.ts'

/** How values are cut into classes. */
const CUTS = ['quantiles', 'equal'] as const
export type Cut = (typeof CUTS)[number]

/** No map is finer than the pixels of rasters need it. */
const HIGHEST_ZOOM = 22

const Release = t.text(
  200,
  'The code of a published release, as `GET /catalog` has it.',
  'synthetic-yield-eth-wheat-2026-07-v1',
)

/** The name of the map of the likeliest season. */
export const MOST_LIKELY = 'most-likely'

/** Beside each layer of a manifest there may be the ends of its range, and odds. */
const MOST_BANDS = 1024

const LayerNumber = Type.Integer({
  minimum: 1,
  maximum: MOST_BANDS,
  description: 'Which of its layers, from 1.',
  examples: [1],
})

const layerOptions = {
  description: `Which of its layers, from 1, or \`${MOST_LIKELY}\`: the season with the greatest odds.`,
  examples: [1],
}

export const LayerName = t.documentedAs(
  Type.Unsafe<number | typeof MOST_LIKELY>({
    ...LayerNumber,
    ...layerOptions,
    type: ['integer', 'string'],
    pattern: `^${MOST_LIKELY}$`,
  }),
  Type.Union([LayerNumber, Type.Literal(MOST_LIKELY)], layerOptions),
)
export type LayerName = Static<typeof LayerName>

const TileNumber = (description: string, examples: number[]) =>
  Type.Integer({ minimum: 0, maximum: 2 ** HIGHEST_ZOOM - 1, description, examples })

const CutQuery = t.withDefault(
  t.oneOf(
    CUTS,
    'How values are cut into classes: such that each has about as much of the area, or such that all are equally wide.',
  ),
  'quantiles',
)

export const LayersParams = Type.Object({ release: Release })

export const LayersQuery = Type.Object({ cut: CutQuery })

export const TilesetParams = Type.Object({ release: Release, layer: LayerName })

export const TileParams = Type.Object({
  release: Release,
  layer: LayerName,
  z: Type.Integer({ minimum: 0, maximum: HIGHEST_ZOOM, description: 'Zoom.', examples: [6] }),
  x: TileNumber('Column, from the west.', [38]),
  y: TileNumber('Row, from the north.', [30]),
})

export const MapClass = t.component('MapClass', 'The meaning of a colour of the map.', {
  from: t.number('Where it begins.', 2400),
  to: t.number('Where it ends: the next one begins there. The last one has its end, too.', 2900),
  color: Type.String({ pattern: '^#[0-9a-f]{6}$', examples: ['#21918c'] }),
  title: Type.Optional(t.string('Of a class that is one number.', 'Foot slope')),
})

const Bounds = t.extent([33, 3.4, 48, 14.9])

export const Tileset = t.component(
  'Tileset',
  'A layer of a release as a map: TileJSON 2.2.0, with a legend.',
  {
    tilejson: Type.Literal('2.2.0', { description: 'The version of TileJSON that this is.' }),
    name: Type.String({ examples: ['synthetic-yield-eth-wheat-2026-07-v1, Normal'] }),
    scheme: Type.Literal('xyz'),
    tiles: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 1,
      description: 'Where its tiles are: PNG of 256 x 256 pixels in Web Mercator.',
      examples: [
        [
          'https://advice.example.org/releases/synthetic-yield-eth-wheat-2026-07-v1/layers/2/tiles/{z}/{x}/{y}',
        ],
      ],
    }),
    minzoom: Type.Integer({ examples: [0] }),
    maxzoom: t.integer(
      'Where its pixels are larger than those of the map: from there on, tiles may be enlarged.',
      10,
    ),
    bounds: Bounds,
    attribution: t.string('Source and licence.'),
    release: Release,
    layer: LayerName,
    input: t.stringOrNull('The fertilizer, organic input or species; null for yields.', null),
    scenario: t.stringOrNull('The season; null for forage.', 'Normal'),
    condition: Type.Optional(t.string('Of the field, where it is for one.', 'foot slope')),
    role: t.choice(COMPANION_ROLES, 'Of a band about layers.'),
    unit: Type.String({ examples: ['kg/ha'] }),
    cut: t.oneOf(CUTS, 'How its values are cut into classes.'),
    classes: t.array(
      MapClass,
      'The legend, from low values to high. Layers of one input and condition share it, so that their scenarios compare. Empty where none of them has a value.',
    ),
  },
)
export type Tileset = Static<typeof Tileset>

export const LayerList = t.component('LayerList', 'The layers of a release as maps.', {
  release: Release,
  layers: t.array(Tileset, 'In the order of the answers; then the bands about them, and `most-likely`.'),
})
